# SPDX-License-Identifier: Apache-2.0
# Ruby of many kinds for JRuby's compiler: blocks, dynamic calls, exceptions, big numbers, text.
# Argument: seconds.
class Shape
  def area = 0
end

class Square < Shape
  def initialize(side) = @side = side
  def area = @side * @side
end

class Circle < Shape
  def initialize(radius) = @radius = radius
  def area = @radius * @radius * 3.14
  def method_missing(name, *rest) = name.to_s.size + rest.size
  def respond_to_missing?(*) = true
end

def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)

def raise_deep(n)
  raise ArgumentError, 'deep' if n.zero?
  raise_deep(n - 1)
end

def one_round
  shapes = (1..200).map { |n| n.odd? ? Square.new(n) : Circle.new(n) }
  sum = shapes.sum(&:area) + shapes.grep(Circle).sum { |c| c.anything_at_all(1, 2) }
  sum += [3, 1, 2].permutation.map { |p| p.sort_by { |x| -x }.inject(:+) }.sum
  words = (1..400).map { |n| "word#{n % 50}" }.group_by(&:itself).transform_values(&:size)
  sum += words.sort.to_h.values.sum + words.keys.join(' ').scan(/w(or)d(\d+)/).size
  begin
    raise_deep(20)
  rescue ArgumentError => e
    sum += e.message.size
  end
  sum += fib(15) + (1..60).inject(:*).to_s.size
  sum += eval('1 + 2') + Shape.instance_methods(false).size
  Fiber.new { sum += 1 }.resume
  sum
end

finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[0].to_f
rounds = 0
puts 'ready'
while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
  one_round
  rounds += 1
end
puts "rounds #{rounds}"
