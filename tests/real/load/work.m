% SPDX-License-Identifier: Apache-2.0
function r = fib (n)
  if (n < 2)
    r = n;
  else
    r = fib (n - 1) + fib (n - 2);
  endif
endfunction

while (true)
  fib (10);
  a = rand (200);
  b = inv (a) * a;
  c = sort (rand (1, 100000));
  s = regexprep (sprintf ("%d ", 1:2000), '(\d+)7', '$1');
endwhile
