# SPDX-License-Identifier: Apache-2.0
fib <- function(n) if (n < 2) n else fib(n - 1) + fib(n - 2)

repeat {
  fib(16)
  x <- sort(runif(100000))
  m <- matrix(runif(40000), 200)
  solve(m)
  words <- paste0("w", (0:4000) * 7919 %% 10007)
  table(nchar(words))
  gsub("(\\d+)7", "\\1", words)
}
