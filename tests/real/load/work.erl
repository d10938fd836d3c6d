%% SPDX-License-Identifier: Apache-2.0
-module(work).
-export([main/0]).

fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).

main() ->
    fib(22),
    L = lists:sort([I * 7919 rem 10007 || I <- lists:seq(0, 4000)]),
    re:run(lists:join(" ", [integer_to_list(I) || I <- L]), "(\\d+)7", [global]),
    main().
