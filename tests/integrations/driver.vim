let s:status = has('nvim') ? 'v:lua.SpeceditStatus()' : 'SpeceditStatus()'
function! Wait()
  let l:left = 12000
  while eval(s:status) !=# '' && l:left > 0
    sleep 20m
    let l:left -= 1
  endwhile
  sleep 20m
endfunction
function! Result()
  let l:found = {}
  let l:found.lines = getline(1, '$')
  let l:found.undo = undotree().seq_last
  let l:found.modified = &modified
  let l:found.cursor = getpos('.')[1:2]
  let l:found.messages = execute('messages')
  silent! undo
  let l:found.undone = getline(1, '$')
  call writefile([json_encode(l:found)], 'result.json')
endfunction
try
{body}
catch
  call writefile([json_encode({'error': v:exception . ' ' . v:throwpoint})], 'result.json')
endtry
qall!
