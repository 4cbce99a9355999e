local function until_so(what, true_now)
  if not vim.wait(60000, true_now, 20) then error("it did not happen: " .. what) end
end
local function text(name)
  return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr(name), 0, -1, true), "\n") .. "\n"
end
local done, problem = xpcall(function()
{body}
end, debug.traceback)
local found = { problem = not done and problem or nil, texts = {} }
for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1 })) do
  found.texts[vim.fn.fnamemodify(info.name, ":t")] = text(info.bufnr)
end
found.messages = vim.fn.execute("messages")
vim.fn.writefile({ vim.fn.json_encode(found) }, "result.json")
vim.cmd("qall!")
