// SPDX-License-Identifier: Apache-2.0
// usage: node jitting.js SECONDS
// Recursion, closures, sorting with a callback, regular expressions, exceptions: interpreted,
// compiled and built-in code of V8 below and above each other.
"use strict";

function fib(n) {
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

function sorts(n) {
	const numbers = Array.from({ length: n }, (_, i) => (i * 7919) % n);

	return numbers.sort((a, b) => a - b).map((x) => x.toString(36)).join(",");
}

function throws(depth) {
	if (depth === 0)
		throw new Error("bottom");
	return throws(depth - 1) + 1;
}

function mixed() {
	const text = sorts(5000);

	text.replace(/([0-9]+)([a-z]*)/g, (all, digits) => digits);
	JSON.parse(JSON.stringify({ text, n: fib(20) }));
	try {
		throws(50);
	} catch (error) {
		return error.message.length;
	}
	return 0;
}

const end = Date.now() + Number(process.argv[2]) * 1000;
while (Date.now() < end)
	mixed();
