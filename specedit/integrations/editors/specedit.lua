-- specedit for Neovim 0.7 or later.
-- Put this file into ~/.config/nvim/plugin/, or let `specedit editor neovim --install` do it.
--
--   :Specedit {instruction}         edit the buffer; with a range or a selection, those lines only
--   :SpeceditPreview {instruction}  the same, but show the change first: y accepts a part, n rejects
--                                   it, Tab moves on, Enter accepts all, q or Escape rejects all
--   :SpeceditRename {new name}      rename the identifier under the cursor
--   :SpeceditStop                   stop the edit that runs
--   :SpeceditReport                 show the whole report of the last one
--
-- The buffer is what is edited, saved or not; the file on the disk is not touched. While the model
-- works you can go on; if you change the buffer meanwhile, the answer is dropped. One undo takes an
-- edit back. Whatever goes wrong, the buffer and its undo history stay as they are.
--
-- Settings, with their defaults:
--   vim.g.specedit_command = { "specedit" }   -- the program and options for every call
--   vim.g.specedit_warm = true                -- read a file into the warm server when it is opened
--   vim.g.specedit_mappings = true            -- <leader>se edits, <leader>sr renames
--   vim.g.specedit_lsp = false                -- Neovim's own rename and code actions ask specedit:
--                                                a rename is of all files of the work tree then

if vim.g.loaded_specedit then
  return
end
vim.g.loaded_specedit = true
vim.g.specedit_report = ""

local running = nil

local function wanted(setting)
  local value = vim.g["specedit_" .. setting]
  return value ~= false and value ~= 0
end

local function program(...)
  local line = vim.deepcopy(vim.g.specedit_command or { "specedit" })
  for _, words in ipairs({ ... }) do
    vim.list_extend(line, words)
  end
  return line
end

-- One line for the message area; all of it stays in :messages.
local function say(text, level)
  vim.cmd("redraw")
  local room = math.max(vim.o.columns - 12, 20)
  if vim.fn.strdisplaywidth(text) > room then
    text = vim.fn.strcharpart(text, 0, room - 1) .. "…"
  end
  vim.api.nvim_echo({ { text, level and "ErrorMsg" or "None" } }, true, {})
end

-- Replace the lines that differ, and no others: marks, folds and the cursor stay.
local function apply(buffer, new)
  local old = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  local most = math.min(#old, #new)
  local head, tail = 0, 0
  while head < most and old[head + 1] == new[head + 1] do
    head = head + 1
  end
  while tail < most - head and old[#old - tail] == new[#new - tail] do
    tail = tail + 1
  end
  if head + tail < math.max(#old, #new) then
    -- Writing this option begins a new undo step, whatever was done just before.
    vim.bo[buffer].undolevels = vim.bo[buffer].undolevels
    local lines = vim.list_slice(new, head + 1, #new - tail)
    vim.api.nvim_buf_set_lines(buffer, head, #old - tail, true, lines)
  end
end

-- Whether a buffer still has the text that an edit was made from.
local function unchanged(job)
  local same = vim.api.nvim_buf_is_loaded(job.buffer)
    and vim.api.nvim_buf_get_changedtick(job.buffer) == job.tick
  if not same then
    say("specedit: the buffer changed meanwhile; the answer is dropped", true)
  end
  return same
end

local marks = vim.api.nvim_create_namespace("specedit")

-- The parts of a change: the first line, and the lines before and after the change.
local function parts_of(old, new)
  local function joined(lines) return table.concat(lines, "\n") .. "\n" end
  local parts = {}
  for _, indices in ipairs(vim.diff(joined(old), joined(new), { result_type = "indices" })) do
    local first, removed, start, added = unpack(indices)
    table.insert(parts, {
      first = removed > 0 and first or first + 1, -- without removed lines it is the line before
      old = vim.list_slice(old, first, first + removed - 1),
      new = vim.list_slice(new, start, start + added - 1),
    })
  end
  return parts
end

-- The text with the chosen parts as they are chosen and both texts of the others; the style of each
-- line. Sets the first and last row of each part.
local function rows_of(old, parts)
  local rows, styles, at = {}, {}, 1
  local function add(lines, style)
    for _, line in ipairs(lines) do
      table.insert(rows, line)
      styles[#rows] = style
    end
  end
  for _, part in ipairs(parts) do
    add(vim.list_slice(old, at, part.first - 1))
    part.row = #rows + 1
    add(part.choice ~= "accepted" and part.old or {}, not part.choice and "DiffDelete" or nil)
    add(part.choice ~= "rejected" and part.new or {}, not part.choice and "DiffAdd" or nil)
    part.last = #rows
    at = part.first + #part.old
  end
  add(vim.list_slice(old, at))
  return rows, styles
end

-- Show a change in a tab page of its own. The buffer gets the accepted parts, as one undo step, when
-- all parts are chosen or the tab page is closed.
local function preview(job)
  local old = vim.api.nvim_buf_get_lines(job.buffer, 0, -1, true)
  local parts = parts_of(old, job.out)
  if #parts == 0 then
    return say("specedit: the edit changes nothing")
  end
  vim.cmd("tab split")
  local view = vim.api.nvim_create_buf(false, true)
  vim.bo[view].bufhidden = "wipe"
  vim.bo[view].syntax = vim.bo[job.buffer].syntax
  vim.api.nvim_win_set_buf(0, view)

  local function draw()
    local rows, styles = rows_of(old, parts)
    vim.bo[view].modifiable = true
    vim.api.nvim_buf_set_lines(view, 0, -1, true, rows)
    vim.bo[view].modifiable = false
    vim.api.nvim_buf_clear_namespace(view, marks, 0, -1)
    for row, style in pairs(styles) do
      local text = style == "DiffAdd" and "+" or "-"
      local mark = { line_hl_group = style, sign_text = text, sign_hl_group = style }
      vim.api.nvim_buf_set_extmark(view, marks, row - 1, 0, mark)
    end
  end

  -- The part without a choice that is at a line or after it, else the first.
  local function open_part(line)
    local open = vim.tbl_filter(function(part) return not part.choice end, parts)
    local after = vim.tbl_filter(function(part) return part.last >= line end, open)
    return after[1] or open[1], #open
  end

  local function go(line)
    local part, left = open_part(line)
    if not part then
      return vim.api.nvim_buf_delete(view, {})
    end
    vim.api.nvim_win_set_cursor(0, { part.row, 0 })
    local keys = "y accepts, n rejects, Tab moves on, Enter accepts all, q rejects all"
    say(("specedit: %d of %d parts are open: %s"):format(left, #parts, keys))
  end

  local function choose(choice, all)
    local chosen = open_part(vim.fn.line("."))
    for _, part in ipairs(parts) do
      if not part.choice and (all or part == chosen) then
        part.choice = choice
      end
    end
    draw()
    go(chosen.row)
  end

  local function key(name, pressed)
    vim.keymap.set("n", name, pressed, { buffer = view, nowait = true })
  end
  key("y", function() choose("accepted") end)
  key("n", function() choose("rejected") end)
  key("<CR>", function() choose("accepted", true) end)
  key("q", function() choose("rejected", true) end)
  key("<Esc>", function() choose("rejected", true) end)
  key("<Tab>", function() go(open_part(vim.fn.line(".")).last + 1) end)
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = view,
    callback = vim.schedule_wrap(function()
      local accepted = 0
      for _, part in ipairs(parts) do
        part.choice = part.choice or "rejected"
        accepted = accepted + (part.choice == "accepted" and 1 or 0)
      end
      if accepted == 0 then
        say("specedit: nothing was accepted")
      elseif unchanged(job) then
        apply(job.buffer, (rows_of(old, parts)))
        say(("specedit: %d of %d parts accepted"):format(accepted, #parts))
      end
    end),
  })
  draw()
  go(1)
end

local function finish(job, code)
  local report = table.concat(job.err, "\n")
  vim.g.specedit_report = report
  local said = {}
  for line in report:gmatch("[^\r\n]+") do
    if line:match("%S") then
      table.insert(said, line)
    end
  end
  if code ~= 0 then
    return say(table.concat(vim.list_slice(said, math.max(1, #said - 2)), " · "), true)
  end
  if not unchanged(job) then
    return
  end
  if #job.out > 1 and job.out[#job.out] == "" then
    table.remove(job.out)
  end
  if job.shown then
    return preview(job)
  end
  apply(job.buffer, job.out)
  say(said[#said] or "specedit: done")
end

-- The name that the model sees, and that says the language.
local function name()
  local path = vim.fn.expand("%")
  return path ~= "" and vim.fn.fnamemodify(path, ":p:.") or ""
end

local function run(command, options, words, shown)
  if running then
    return say("specedit is at work; :SpeceditStop stops it", true)
  end
  if not vim.bo.modifiable then
    return say("specedit: this buffer cannot be modified", true)
  end
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, true)
  for _, line in ipairs(lines) do
    if line:find("\n", 1, true) then -- how Neovim keeps a NUL byte
      return say("specedit: this buffer holds a NUL byte and is no text", true)
    end
  end
  local named = name() ~= "" and { "--stdin-filename", name() } or {}
  local buffer = vim.api.nvim_get_current_buf()
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  local job = { buffer = buffer, tick = tick, shown = shown }
  job.out, job.err = { "" }, { "" }
  local line = program(command, options, named, { "--" }, words, { "-" })
  local started, id = pcall(vim.fn.jobstart, line, {
    stdout_buffered = true,
    stderr_buffered = true,
    on_stdout = function(_, data) job.out = data end,
    on_stderr = function(_, data) job.err = data end,
    on_exit = function(_, code)
      running = nil
      finish(job, code)
    end,
  })
  if not started or id <= 0 then
    return say("specedit: cannot be started: " .. line[1], true)
  end
  running = id
  if vim.bo.endofline or vim.bo.fixendofline then
    table.insert(lines, "")
  end
  vim.fn.chansend(id, table.concat(lines, "\n"))
  vim.fn.chanclose(id, "stdin")
  say("specedit: " .. table.concat(words, " → ") .. " …")
end

-- For the status line: what runs, or nothing.
function _G.SpeceditStatus()
  return running and "specedit…" or ""
end

local function asked(words, prompt, default)
  local text = words ~= "" and words or vim.fn.input(prompt, default or "")
  return text:match("%S") and text or nil
end

for command, shown in pairs({ Specedit = false, SpeceditPreview = true }) do
  vim.api.nvim_create_user_command(command, function(given)
    local words = asked(given.args, "specedit: ")
    if words then
      local part = given.range > 0 and { "--lines", given.line1 .. ":" .. given.line2 } or {}
      run({ "edit" }, part, { words }, shown)
    end
  end, { nargs = "*", range = true, desc = "edit the buffer or the selected lines" })
end

vim.api.nvim_create_user_command("SpeceditRename", function(given)
  local old = vim.fn.expand("<cword>")
  local new = asked(given.args, "rename " .. old .. " to: ", old)
  if new and new ~= old then
    run({ "rename" }, { "--line", tostring(vim.fn.line(".")) }, { old, new })
  end
end, { nargs = "?", desc = "rename the identifier under the cursor" })

vim.api.nvim_create_user_command("SpeceditStop", function()
  if running then
    vim.fn.jobstop(running)
  end
end, { desc = "stop the edit that runs" })

vim.api.nvim_create_user_command("SpeceditReport", function()
  print(vim.g.specedit_report)
end, { desc = "the whole report of the last edit" })

if wanted("mappings") then
  vim.keymap.set({ "n", "x" }, "<leader>se", ":Specedit ", { desc = "specedit: edit" })
  vim.keymap.set("n", "<leader>sr", ":SpeceditRename ", { desc = "specedit: rename" })
end

-- `specedit lsp`, one for all buffers.
local server = nil

local function attach(buffer)
  if vim.bo[buffer].buftype ~= "" or vim.api.nvim_buf_get_name(buffer) == "" then
    return
  end
  server = server or vim.lsp.start_client({
    name = "specedit",
    cmd = program({ "lsp" }),
    root_dir = vim.fn.getcwd(),
    on_exit = function() server = nil end,
  })
  if server then
    vim.lsp.buf_attach_client(buffer, server)
  end
end

if vim.g.specedit_lsp == true or vim.g.specedit_lsp == 1 then
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
    group = vim.api.nvim_create_augroup("specedit_lsp", { clear = true }),
    callback = function(given) attach(given.buf) end,
  })
end

vim.api.nvim_create_autocmd("BufReadPost", {
  group = vim.api.nvim_create_augroup("specedit", { clear = true }),
  callback = function()
    local small = vim.fn.getfsize(vim.fn.expand("%:p")) < 200000
    if wanted("warm") and vim.bo.buftype == "" and vim.bo.modifiable and small then
      pcall(vim.fn.jobstart, program({ "warm", "--quiet", "--", name() }), { detach = true })
    end
  end,
})
