(require 'json)
(defun wait ()
  (let ((left 12000))
    (while (and (process-live-p specedit--process) (> left 0))
      (accept-process-output nil 0.02)
      (setq left (1- left))))
  (accept-process-output nil 0.1))
(defun result ()
  (let* ((text (buffer-string)) (modified (buffer-modified-p)) (at (line-number-at-pos))
         (messages (with-current-buffer "*Messages*" (buffer-string))))
    (undo-boundary)
    (ignore-errors (setq last-command nil) (undo))
    (let ((undone (buffer-string)))
      (with-temp-file "result.json"
        (insert (json-encode `((text . ,text) (undone . ,undone) (line . ,at) (messages . ,messages)
                               (modified . ,(if modified t :json-false)))))))))
(condition-case problem
    (progn
      (setq message-log-max t)
      {before}
      (load "{snippet}" nil t)
      (find-file "a é.py")
      (buffer-enable-undo)
      {body}
      (wait)
      (result))
  (error (with-temp-file "result.json" (insert (json-encode `((error . ,(format "%S" problem))))))))
