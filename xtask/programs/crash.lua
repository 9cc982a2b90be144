local function locals(...)
  local names = {}
  for _, n in ipairs {1, -1, -2147483648} do
    names[#names + 1] = debug.getlocal(1, n)
  end
  return names
end
print(#locals("a", "b"))
