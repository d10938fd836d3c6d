// SPDX-License-Identifier: Apache-2.0
using System;
using System.Linq;

class Work
{
    static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }

    static void Main()
    {
        for (;;) {
            Fib(22);
            var words = Enumerable.Range(0, 4000).Select(i => (i * 7919 % 10007).ToString()).ToArray();
            Array.Sort(words, (a, b) => string.CompareOrdinal(b, a));
            string.Join(" ", words).Split('7');
        }
    }
}
