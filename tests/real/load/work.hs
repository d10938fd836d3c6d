-- SPDX-License-Identifier: Apache-2.0
module Main where
import Data.List (sort)

fib :: Int -> Integer
fib n = if n < 2 then toInteger n else fib (n - 1) + fib (n - 2)

turn :: Int -> IO ()
turn k = do
  print (fib (20 + k `mod` 2))
  print (length (unwords (map show (sort [(i * 7919 + k) `mod` 10007 | i <- [0 .. 4000 :: Int]]))))
  turn (k + 1)

main :: IO ()
main = turn 0
