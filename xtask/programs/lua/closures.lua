-- Closures, metatables, recursion, integer and float arithmetic.
local function counter()
  local n = 0
  return function(step) n = n + step; return n end
end
local counters = {}
for i = 1, 10 do counters[i] = counter() end
for i = 1, 300 * scale do counters[i % 10 + 1](i) end
for i = 1, 10 do io.write(counters[i](0), " ") end
print()

local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(12 + scale // 20))

local vector = {}
vector.__index = vector
vector.__add = function(a, b) return setmetatable({ x = a.x + b.x, y = a.y + b.y }, vector) end
vector.__eq = function(a, b) return a.x == b.x and a.y == b.y end
vector.__tostring = function(v) return "(" .. v.x .. ", " .. v.y .. ")" end
vector.__close = function() io.write("closed ") end
local sum = setmetatable({ x = 0, y = 0 }, vector)
for i = 1, 50 * scale do sum = sum + setmetatable({ x = i, y = i * 0.5 }, vector) end
do local v <close> = sum; print(tostring(v), v == sum) end

local sieve, primes = {}, 0
for i = 2, 200 * scale do
  if not sieve[i] then
    primes = primes + 1
    for j = i * i, 200 * scale, i do sieve[j] = true end
  end
end
print(primes, 7 // 2, -7 // 2, 7 % -3, 2 ^ 10, 1 << 40, 0x7fffffffffffffff + 1, 10 / 4)
goto done
print("never")
::done::
