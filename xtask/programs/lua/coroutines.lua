-- Coroutines, with errors in them, and generators that are dropped half-way.
local function generate(n)
  return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end)
end
local sum = 0
for i = 1, scale do
  for value in generate(i % 13) do sum = sum + value end
end
print(sum)

local function permutations(list, n)
  n = n or #list
  if n <= 1 then coroutine.yield(list) return end
  for i = 1, n do
    list[n], list[i] = list[i], list[n]
    permutations(list, n - 1)
    list[n], list[i] = list[i], list[n]
  end
end
local seen = 0
for p in coroutine.wrap(function() permutations({ 1, 2, 3, 4, 5 }) end) do
  if p[1] < p[2] then seen = seen + 1 end
end
print(seen)

local failing = coroutine.create(function(x) coroutine.yield(x + 1); error("inside") end)
print(coroutine.resume(failing, 1))
print(coroutine.resume(failing))
print(coroutine.resume(failing))
print(coroutine.status(failing), coroutine.isyieldable(), coroutine.close(failing))
local inner = coroutine.wrap(function() return pcall(function() coroutine.yield("across pcall"); error("after") end) end)
print(inner())
print(inner())
local dropped = coroutine.create(function() local x <close> = setmetatable({}, { __close = function() print("dropped") end })
  coroutine.yield() end)
coroutine.resume(dropped)
print(coroutine.close(dropped))
