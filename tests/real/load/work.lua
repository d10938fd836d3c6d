-- SPDX-License-Identifier: Apache-2.0
local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

while true do
  fib(22)
  local words = {}
  for i = 1, 4000 do words[i] = tostring(i * 7919 % 10007) end
  table.sort(words, function(a, b) return a:reverse() < b:reverse() end)
  local text = table.concat(words, " ")
  for number in text:gmatch("(%d+)7") do words[number] = #number end
end
