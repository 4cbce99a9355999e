" specedit for Vim 8.1 or later (for Neovim: specedit editor neovim).
" Put this file into ~/.vim/plugin/, or let `specedit editor vim --install` do it.
"
"   :Specedit {instruction}         edit the buffer; with a range or a selection, those lines only
"   :SpeceditRename {new name}      rename the identifier under the cursor
"   :SpeceditStop                   stop the edit that runs
"   :SpeceditReport                 show the whole report of the last one
"
" The buffer is what is edited, saved or not; the file on the disk is not touched. While the model
" works you can go on; if you change the buffer meanwhile, the answer is dropped. One undo takes an
" edit back. Whatever goes wrong, the buffer and its undo history stay as they are.
"
" Settings, with their defaults:
"   let g:specedit_command = ['specedit']   " the program and options for every call
"   let g:specedit_warm = 1                 " read a file into the warm server when it is opened
"   let g:specedit_mappings = 1             " <leader>se edits, <leader>sr renames

if exists('g:loaded_specedit') || !has('job') || !has('channel')
  finish
endif
let g:loaded_specedit = 1

let s:job = {}
let g:specedit_report = ''

command! -nargs=* -range Specedit call s:Edit(<q-args>, <range> ? [<line1>, <line2>] : [])
command! -nargs=? SpeceditRename call s:Rename(<q-args>)
command! -nargs=0 SpeceditStop call s:Stop()
command! -nargs=0 SpeceditReport echo g:specedit_report

if get(g:, 'specedit_mappings', 1)
  nnoremap <leader>se :Specedit<Space>
  xnoremap <leader>se :Specedit<Space>
  nnoremap <leader>sr :SpeceditRename<Space>
endif

augroup specedit
  autocmd!
  autocmd BufReadPost * call s:Warm()
augroup END

" For the status line: what runs, or nothing.
function! SpeceditStatus() abort
  return empty(s:job) ? '' : 'specedit…'
endfunction

function! s:Edit(words, lines) abort
  let l:words = a:words ==# '' ? input('specedit: ') : a:words
  if l:words =~# '\S'
    let l:part = empty(a:lines) ? [] : ['--lines', join(a:lines, ':')]
    call s:Run(['edit'], l:part, [l:words])
  endif
endfunction

function! s:Rename(new) abort
  let l:old = expand('<cword>')
  let l:new = a:new ==# '' ? input('rename ' . l:old . ' to: ', l:old) : a:new
  if l:new =~# '\S' && l:new !=# l:old
    call s:Run(['rename'], ['--line', line('.')], [l:old, l:new])
  endif
endfunction

function! s:Run(command, options, words) abort
  if !empty(s:job)
    return s:Say('specedit is at work; :SpeceditStop stops it', 1)
  endif
  if !&modifiable
    return s:Say('specedit: this buffer cannot be modified', 1)
  endif
  if match(getline(1, '$'), "\n") >= 0
    return s:Say('specedit: this buffer holds a NUL byte and is no text', 1)
  endif
  let l:name = s:Name()
  let l:line = get(g:, 'specedit_command', ['specedit']) + a:command + a:options
  if l:name !=# ''
    let l:line += ['--stdin-filename', l:name]
  endif
  let l:line += ['--'] + a:words + ['-']
  if !executable(l:line[0])
    return s:Say('specedit: there is no program ' . l:line[0], 1)
  endif
  let s:job = {'buffer': bufnr('%'), 'tick': b:changedtick, 'out': [], 'err': []}
  let s:job.handle = job_start(l:line, {
        \ 'in_io': 'buffer', 'in_buf': bufnr('%'), 'mode': 'raw',
        \ 'out_cb': {_, text -> add(s:job.out, text)},
        \ 'err_cb': {_, text -> add(s:job.err, text)},
        \ 'exit_cb': {_, code -> s:Ended('code', code)},
        \ 'close_cb': {_ -> s:Ended('closed', 1)},
        \ })
  call s:Say('specedit: ' . join(a:words, ' → ') . ' …', 0)
endfunction

" The name that the model sees, and that says the language.
function! s:Name() abort
  return expand('%') ==# '' ? '' : fnamemodify(expand('%'), ':p:.')
endfunction

function! s:Stop() abort
  if !empty(s:job)
    call job_stop(s:job.handle, 'int')
  endif
endfunction

" A job is over when it has ended and all it said has been read.
function! s:Ended(what, value) abort
  let s:job[a:what] = a:value
  if has_key(s:job, 'closed') && has_key(s:job, 'code')
    let l:job = s:job
    let s:job = {}
    call s:Finish(l:job)
  endif
endfunction

function! s:Finish(job) abort
  let g:specedit_report = join(a:job.err, '')
  let l:said = filter(split(g:specedit_report, "[\r\n]\\+"), {_, line -> line =~# '\S'})
  if a:job.code != 0
    return s:Say(join(l:said[-3:], ' · '), 1)
  endif
  if !bufloaded(a:job.buffer) || getbufvar(a:job.buffer, 'changedtick') != a:job.tick
    return s:Say('specedit: the buffer changed meanwhile; the answer is dropped', 1)
  endif
  call s:Apply(a:job.buffer, split(join(a:job.out, ''), "\n", 1))
  call s:Say(empty(l:said) ? 'specedit: done' : l:said[-1], 0)
endfunction

" Replace the lines that differ, and no others: marks, folds and the cursor stay.
function! s:Apply(buffer, new) abort
  let l:old = getbufline(a:buffer, 1, '$')
  let l:new = a:new
  if len(l:new) > 1 && l:new[-1] ==# ''
    call remove(l:new, -1)
  endif
  let l:most = min([len(l:old), len(l:new)])
  let l:head = 0
  while l:head < l:most && l:old[l:head] ==# l:new[l:head]
    let l:head += 1
  endwhile
  let l:tail = 0
  while l:tail < l:most - l:head && l:old[-1 - l:tail] ==# l:new[-1 - l:tail]
    let l:tail += 1
  endwhile
  let l:gone = len(l:old) - l:head - l:tail
  let l:come = len(l:new) - l:head - l:tail
  let l:same = min([l:gone, l:come])
  " Writing this option begins a new undo step, whatever was done just before.
  call setbufvar(a:buffer, '&undolevels', getbufvar(a:buffer, '&undolevels'))
  if l:same > 0
    call setbufline(a:buffer, l:head + 1, l:new[l:head : l:head + l:same - 1])
  endif
  if l:come > l:same
    call appendbufline(a:buffer, l:head + l:same, l:new[l:head + l:same : l:head + l:come - 1])
  elseif l:gone > l:same
    silent call deletebufline(a:buffer, l:head + l:same + 1, l:head + l:gone)
  endif
endfunction

" One line for the message area; all of it stays in :messages.
function! s:Say(text, is_error) abort
  redraw
  execute 'echohl' a:is_error ? 'ErrorMsg' : 'None'
  let l:room = max([&columns - 12, 20])
  let l:long = strdisplaywidth(a:text) > l:room
  echomsg l:long ? strcharpart(a:text, 0, l:room - 1) . '…' : a:text
  echohl None
endfunction

function! s:Warm() abort
  if get(g:, 'specedit_warm', 1) && &buftype ==# '' && &modifiable && getfsize(expand('%:p')) < 200000
    let l:line = get(g:, 'specedit_command', ['specedit']) + ['warm', '--quiet', '--', s:Name()]
    call job_start(l:line, {'in_io': 'null', 'out_io': 'null', 'err_io': 'null', 'stoponexit': ''})
  endif
endfunction
