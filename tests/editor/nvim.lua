-- Neovim, headless, as a user has it: its client on `risec lsp`, and editors/vim.
--
-- RISEC, ROOT, FILES (a list of programs) and SAID (where to write) are in the environment.
local root, risec = os.getenv("ROOT"), os.getenv("RISEC")
local out = {}
local function say(line) table.insert(out, line) end

local function same(got, want, what)
  if not vim.deep_equal(got, want) then
    error(what .. ": " .. vim.inspect(got) .. ", not " .. vim.inspect(want))
  end
end

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, 60000)
  for _, answer in pairs(assert(answers, method .. ": no answer")) do
    assert(not answer.err, vim.inspect(answer.err))
    return answer.result
  end
end

local function place(line, column)
  vim.api.nvim_win_set_cursor(0, { line, column })
  return vim.lsp.util.make_position_params(0, "utf-16")
end

local function diagnostics(wanted)
  assert(vim.wait(60000, function() return #vim.diagnostic.get(0) == wanted end, 20),
    "diagnostics: " .. vim.inspect(vim.diagnostic.get(0)))
  return vim.diagnostic.get(0)
end

local function language_server()
  local path = vim.fn.tempname() .. ".rise"
  vim.fn.writefile({
    "-- \240\159\152\128", "entry  sum {n: nat} (xs: n.f32): f32 =",
    "  let doubled = xs |> map(fun x => 2 * x) in", "  doubled |> reduce((+), 0)" }, path)
  vim.cmd("edit " .. path)
  same(vim.bo.filetype, "rise", "the type of the file")
  local function client() return vim.lsp.buf_get_clients(0)[next(vim.lsp.buf_get_clients(0))] end
  local function started()
    return vim.wait(60000, function() return client() ~= nil and client().initialized end, 20)
  end
  assert(started(), "no client has started")
  local hover = ask("textDocument/hover", place(3, 7))
  assert(hover.contents.value:find("doubled: n.f32", 1, true), "hover: " .. vim.inspect(hover))
  local found = ask("textDocument/definition", place(4, 4))
  same(found.range.start, { line = 2, character = 6 }, "definition")
  local items = ask("textDocument/completion", place(4, 2)).items
  same(items[1].label, "doubled", "completion")
  local document = vim.lsp.util.make_text_document_params()
  same(#ask("textDocument/documentSymbol", { textDocument = document }), 1, "symbols")
  -- A change, through the client, of a line behind an emoji.
  local changed = { "  -- \240\159\152\128", "  unknown |> reduce((+), 0)" }
  vim.api.nvim_buf_set_lines(0, 3, 4, false, changed)
  local wrong = diagnostics(1)[1]
  same({ wrong.lnum, wrong.col, wrong.code }, { 4, 2, "E0201" }, "a diagnostic")
  vim.api.nvim_buf_set_lines(0, 3, 5, false, { "  doubled |> reduce((+), 0)" })
  diagnostics(0)
  local rename = place(3, 7)
  rename.newName = "twice"
  vim.lsp.util.apply_workspace_edit(ask("textDocument/rename", rename), "utf-16")
  same(vim.api.nvim_buf_get_lines(0, 3, 4, false), { "  twice |> reduce((+), 0)" }, "rename")
  local options = { tabSize = 2, insertSpaces = true }
  local edits = ask("textDocument/formatting", { textDocument = document, options = options })
  vim.lsp.util.apply_text_edits(edits, 0, "utf-16")
  same(vim.api.nvim_buf_get_lines(0, 1, 2, false)[1]:sub(1, 10), "entry sum ", "format")
  local command = { command = "risec.plan", arguments = { document.uri } }
  local plan = ask("workspace/executeCommand", command)
  assert(plan:find("^plan of sum"), plan)
  vim.cmd("bwipeout!")
  vim.cmd("edit " .. path)
  assert(started(), "it does not start again")
  vim.cmd("RisePlan")
  assert(vim.api.nvim_buf_get_lines(0, 0, 1, false)[1]:find("^plan of sum"), "RisePlan")
  vim.cmd("bwipeout!")
  vim.lsp.stop_client(vim.lsp.get_active_clients())
  vim.cmd("bwipeout!")
end

-- Each token of each program has the group of its class.
local groups = {
  riseKeyword = "keyword", risePrimitive = "primitive", riseType = "type",
  riseConstant = "constant", riseFunction = "function", riseNumber = "number", riseText = "text",
  riseOperator = "operator",
  riseSeparator = "separator", riseBracket = "bracket", riseComment = "comment", riseDoc = "doc",
  riseName = "name" }

local function group_at(row, column)
  return groups[vim.fn.synIDattr(vim.fn.synID(row, column, 1), "name")]
end

local function syntax()
  local count, read = 0, 0
  for _, path in ipairs(vim.fn.readfile(os.getenv("FILES"))) do
    local quoted = vim.fn.shellescape(path)
    local command = vim.fn.shellescape(risec) .. " --emit=tokens " .. quoted .. " 2>/dev/null"
    local lines = vim.fn.systemlist(command)
    if vim.v.shell_error == 0 then
      read = read + 1
      vim.cmd("edit! " .. vim.fn.fnameescape(path))
      vim.cmd("syntax sync fromstart")
      for _, line in ipairs(lines) do
        local row, column, class, text = line:match("^(%d+):(%d+) (%w+) (.*)$")
        -- A byte order mark is no part of the buffer.
        if row == "1" and vim.bo.bomb then column = column - 3 end
        for i = 0, #text - 1, math.max(1, #text - 1) do
          local got = group_at(tonumber(row), tonumber(column) + i)
          if got ~= class then
            local where = path .. ":" .. row .. ":" .. column
            error(where .. ": `" .. text .. "` is " .. class .. ", and has " .. tostring(got))
          end
        end
        count = count + 1
      end
      vim.cmd("bwipeout!")
    end
  end
  say("# vim: " .. count .. " tokens of " .. read .. " programs")
  assert(count > 3000, "too few")
end

-- What the documentation tells users to write.
local docs = table.concat(vim.fn.readfile(root .. "/docs/editors.md"), "\n")
for block in docs:gmatch("```lua\n(.-)```") do
  assert(load((block:gsub("/path/to/risec", root))))()
end
vim.o.swapfile = false
vim.o.binary = false
vim.cmd("filetype plugin indent on | syntax on")
vim.cmd("set synmaxcol=0 redrawtime=60000 regexpengine=1")
for _, case in ipairs({ { "neovim", language_server }, { "vim-syntax", syntax } }) do
  local skipped = case[2] == language_server and os.getenv("served") == ""
  local good, message = true, nil
  if not skipped then good, message = xpcall(case[2], debug.traceback) end
  local why = skipped and ": risec is built without libjansson" or ""
  say((skipped and "skip" or good and "ok" or "not ok") .. " editor-" .. case[1] .. why)
  if not good then
    for line in tostring(message):gmatch("[^\n]+") do say("# " .. line) end
  end
end
vim.fn.writefile(out, os.getenv("SAID"))
vim.cmd("qall!")
