-- The garbage collector in both modes, weak tables and finalisers.
local finalised = 0
local function churn(n)
  local keep = {}
  for i = 1, n do
    local node = setmetatable({ i, tostring(i), next = keep[i % 50] }, { __gc = function() finalised = finalised + 1 end })
    keep[i % 50] = { node }
  end
  return keep
end
for _, mode in ipairs { "incremental", "generational" } do
  collectgarbage(mode)
  churn(20 * scale)
  collectgarbage()
end
collectgarbage("incremental")
local weak = setmetatable({}, { __mode = "v" })
for i = 1, 100 do weak[i] = { i } end
collectgarbage()
local left = 0
for _ in pairs(weak) do left = left + 1 end
print(finalised, left)
local list = {}
for i = 1, 50 * scale do list[i] = (i * 7919) % 10007 end
table.sort(list)
print(list[1], list[#list], #table.pack(table.unpack(list, 1, 100)))
table.move(list, 1, 10, 5); table.insert(list, 1, "first"); print(table.remove(list), table.concat(list, ",", 1, 12))
