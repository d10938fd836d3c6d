% SPDX-License-Identifier: Apache-2.0
fib(N, N) :- N < 2, !.
fib(N, F) :- A is N - 1, B is N - 2, fib(A, X), fib(B, Y), F is X + Y.

work :- repeat, fib(18, _), findall(X, (between(0, 4000, I), X is I * 7919 mod 10007), L), msort(L, S), atomic_list_concat(S, ' ', _), fail.
