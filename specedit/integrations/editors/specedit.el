;;; specedit.el --- edit code with a local model  -*- lexical-binding: t; -*-

;; specedit for Emacs 27 or later. `specedit editor emacs --install' puts this file into your
;; Emacs folder; then add to your init file: (load (locate-user-emacs-file "specedit"))
;;
;;   M-x specedit          edit the buffer by an instruction; with an active region, its lines only
;;   M-x specedit-rename   rename the identifier at point
;;   M-x specedit-stop     stop the edit that runs
;;   M-x specedit-report   show the whole report of the last one
;;
;; The buffer is what is edited, saved or not; the file on the disk is not touched.  While the model
;; works you can go on; if you change the buffer meanwhile, the answer is dropped.  One undo takes
;; an edit back.  Whatever goes wrong, the buffer and its undo history stay as they are.

;;; Code:

(require 'subr-x)

(defgroup specedit nil "Edit code with a local model." :group 'tools)

(defcustom specedit-command '("specedit")
  "The program, and options for every call." :type '(repeat string))

(defcustom specedit-warm t
  "Read a file into the warm server when it is opened." :type 'boolean)

(defvar specedit-map
  (let ((map (make-sparse-keymap)))
    (define-key map "e" #'specedit)
    (define-key map "r" #'specedit-rename)
    (define-key map "s" #'specedit-stop)
    (define-key map "?" #'specedit-report)
    map)
  "Keys of specedit, under \\`C-c ,'.")
(global-set-key (kbd "C-c ,") specedit-map)

(defvar specedit--process nil "The edit that runs.")
(defvar specedit-last-report "" "All that the last edit said.")

(defun specedit (instruction &optional begin end)
  "Edit the buffer, or the lines of the region from BEGIN to END, by INSTRUCTION."
  (interactive (cons (read-string "specedit: ")
                     (when (use-region-p) (list (region-beginning) (region-end)))))
  (specedit--run "edit" (when begin (list "--lines" (specedit--lines begin end)))
                 (list instruction)))

(defun specedit-rename (new)
  "Rename the identifier at point to NEW."
  (interactive (list (read-string (format "rename %s to: " (specedit--identifier))
                                  (specedit--identifier))))
  (specedit--run "rename" (list "--line" (number-to-string (line-number-at-pos nil t)))
                 (list (specedit--identifier) new)))

(defun specedit-stop ()
  "Stop the edit that runs."
  (interactive)
  (when (process-live-p specedit--process) (interrupt-process specedit--process)))

(defun specedit-report ()
  "Show the whole report of the last edit."
  (interactive)
  (with-help-window "*specedit*" (princ specedit-last-report)))

(defun specedit--identifier ()
  (or (thing-at-point 'symbol t) (user-error "No identifier at point")))

(defun specedit--lines (begin end)
  "The lines from BEGIN to END as A:B, without a line that END only begins."
  (let ((last (if (and (> end begin) (= end (save-excursion (goto-char end)
                                                            (line-beginning-position))))
                  (1- end)
                end)))
    (format "%d:%d" (line-number-at-pos begin t) (line-number-at-pos last t))))

(defun specedit--run (command options words)
  "Run specedit COMMAND with OPTIONS and WORDS on the text of this buffer."
  (when (process-live-p specedit--process)
    (user-error "Specedit is at work; M-x specedit-stop stops it"))
  (barf-if-buffer-read-only)
  (let* ((buffer (current-buffer))
         (tick (buffer-chars-modified-tick))
         (name (when buffer-file-name (list "--stdin-filename" (specedit--name))))
         (out (generate-new-buffer " *specedit out*"))
         (err (generate-new-buffer " *specedit err*"))
         (line (append specedit-command (list command) options name '("--") words '("-")))
         (coding-system-for-read 'utf-8-unix)
         (coding-system-for-write 'utf-8-unix)
         (process-connection-type nil)
         (listener (make-pipe-process :name "specedit err" :buffer err :noquery t
                                      :sentinel #'ignore))
         (done (lambda (process _event)
                 (unless (process-live-p process)
                   (while (accept-process-output listener 0.05))
                   (specedit--finish (process-exit-status process) buffer tick out err)
                   (delete-process listener)
                   (mapc #'kill-buffer (list out err))))))
    (condition-case problem
        (setq specedit--process
              (make-process :name "specedit" :buffer out :stderr listener :command line
                            :noquery t :sentinel done))
      (error (delete-process listener)
             (mapc #'kill-buffer (list out err))
             (user-error "Specedit cannot be started: %s" (error-message-string problem))))
    (save-restriction
      (widen)
      (process-send-region specedit--process (point-min) (point-max)))
    (process-send-eof specedit--process)
    (message "specedit: %s …" (string-join words " → "))))

(defun specedit--name ()
  "The name that the model sees, and that says the language."
  (let ((name (file-relative-name buffer-file-name)))
    (if (string-prefix-p ".." name) buffer-file-name name)))

(defun specedit--finish (code buffer tick out err)
  "Apply OUT to BUFFER if CODE is 0 and TICK is still its tick; say the end of ERR."
  (setq specedit-last-report (with-current-buffer err (buffer-string)))
  (let ((said (split-string specedit-last-report "[\r\n]+" t "[ \t]+")))
    (cond
     ((/= code 0) (specedit--say (string-join (last said 3) " · ")))
     ((not (and (buffer-live-p buffer) (= tick (buffer-chars-modified-tick buffer))))
      (specedit--say "specedit: the buffer changed meanwhile; the answer is dropped"))
     (t (with-current-buffer buffer (specedit--apply out))
        (specedit--say (or (car (last said)) "specedit: done"))))))

(defun specedit--apply (out)
  "Replace what differs between this buffer and OUT, as one undo step."
  (save-restriction
    (widen)
    (undo-boundary)
    (unless (= 0 (let ((case-fold-search nil)) (compare-buffer-substrings nil nil nil out nil nil)))
      (replace-buffer-contents out 1.0))
    (undo-boundary)))

(defun specedit--say (text)
  "Say TEXT in the echo area, on one line; all of it is in `specedit-report'."
  (message "%s" (truncate-string-to-width text (max 20 (1- (frame-width))) nil nil "…")))

(defun specedit--warm ()
  "Read this file into the warm server."
  (when (and specedit-warm buffer-file-name (not buffer-read-only)
             (< (buffer-size) 200000) (not (file-remote-p buffer-file-name)))
    (ignore-errors
      (apply #'call-process (car specedit-command) nil 0 nil
             (append (cdr specedit-command) (list "warm" "--quiet" "--" (specedit--name)))))))
(add-hook 'find-file-hook #'specedit--warm)

(provide 'specedit)
;;; specedit.el ends here
