-- Errors: each pcall below is left by longjmp, or by an exception where Lua is C++.
local caught = 0
local function deep(n, what)
  if n == 0 then error(what) end
  local result = deep(n - 1, what)
  return result .. "never"
end
for i = 1, 10 * scale do
  local ok, message = pcall(deep, i % 20, { code = i })
  if not ok and message.code == i then caught = caught + 1 end
end
print(caught)
print(pcall(error), pcall(error, "plain", 0))
print(pcall(function() local x = nil; return x.field end))
print(pcall(function() return 1 + {} end))
print(pcall(function() return #5 end))
print(pcall(apply, apply, function() error("through C", 0) end))
print(apply(pcall, apply, error, "in C", 0))
print(xpcall(deep, function(m) return "handled " .. tostring(m) end, 3, "it"))
print(select("#", pcall(string.gsub, "x", "(", "")))
if scale >= 100 then  -- some hundred million instructions
  local ok, overflow = pcall(function() local function f() return 1 + f() end return f() end)
  print(ok, overflow:match("stack overflow"))
end
print(load("x ="))
print(pcall(setmetatable, 1, 2))
print(pcall(table.sort, { 3, 1, 2, 5, 4 }, function(a, b) error("compare", 0) end))
local t <close> = setmetatable({}, { __close = function(_, e) io.write("closing ", tostring(e), "\n") end })
error("the script fails at its end")
