# SPDX-License-Identifier: Apache-2.0
"""Work without an end: calls, sorting, texts, patterns."""
import hashlib
import json
import re


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def texts():
    words = [str(i * 7919 % 10007) for i in range(4000)]
    words.sort(key=lambda word: word[::-1])
    return json.loads(json.dumps({word: len(word) for word in words}))


def patterns():
    return len(re.findall(r"(\d+)-(\w+)", "12-ab 345-cde " * 2000))


while True:
    fib(20), texts(), patterns(), hashlib.sha256(b"x" * 100000).digest()
