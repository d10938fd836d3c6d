<?php
// SPDX-License-Identifier: Apache-2.0
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }

while (true) {
    fib(20);
    $words = array_map(fn($i) => (string)($i * 7919 % 10007), range(0, 4000));
    usort($words, fn($a, $b) => strrev($a) <=> strrev($b));
    preg_match_all('/(\d+)7/', implode(' ', $words), $found);
    json_decode(json_encode($words));
}
