# SPDX-License-Identifier: Apache-2.0
def fib(n)
  n < 2 ? n : fib(n - 1) + fib(n - 2)
end

loop do
  fib(20)
  words = (0...4000).map { |i| (i * 7919 % 10007).to_s }
  words.sort_by(&:reverse).group_by(&:size)
  ("12-ab 345-cde " * 1000).scan(/(\d+)-(\w+)/).size
end
