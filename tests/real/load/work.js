// SPDX-License-Identifier: Apache-2.0
'use strict';
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

for (;;) {
  fib(24);
  const words = Array.from({ length: 4000 }, (_, i) => String(i * 7919 % 10007));
  words.sort((a, b) => [...a].reverse().join('') < [...b].reverse().join('') ? -1 : 1);
  JSON.parse(JSON.stringify(words)).join(' ').match(/(\d+)7/g);
}
