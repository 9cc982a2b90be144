-- String building, patterns, formatting and sorting.
local words = {}
for i = 1, 40 * scale do
  words[#words + 1] = string.format("w%05d_%s", (i * 7919) % 10007, string.rep("ab", i % 5))
end
table.sort(words, function(a, b) return a > b end)
local text = table.concat(words, " ")
local counts = {}
for word in text:gmatch("%a+%d+") do
  local key = word:sub(1, 3)
  counts[key] = (counts[key] or 0) + 1
end
local keys = {}
for key in pairs(counts) do keys[#keys + 1] = key end
table.sort(keys)
for _, key in ipairs(keys) do io.write(key, "=", counts[key], " ") end
print()
local swapped, n = text:gsub("(%d)(%d)", "%2%1")
print(n, #swapped, swapped:find("w%d+_abab", 100))
print(text:byte(1, 8), ("x"):rep(5, "-"), text:upper():sub(-20))
print(string.pack("<i4d", 7, 2.5):byte(1, -1))
print(utf8.char(228, 8364), utf8.len("aäb€"))
print(pcall(string.rep, "x", -1), pcall(string.format, "%d", 1.5))
