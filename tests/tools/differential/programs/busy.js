// SPDX-License-Identifier: Apache-2.0
// Keeps node busy for some seconds: recursion, JSON, regular expressions, sorting, zlib.
'use strict';
const zlib = require('zlib');
const crypto = require('crypto');

function grow(depth, key) {
	return depth === 0 ? null : { left: grow(depth - 1, 2 * key), right: grow(depth - 1, 2 * key + 1), key };
}

function sum(tree) {
	return tree ? tree.key + sum(tree.left) + sum(tree.right) : 0;
}

function words() {
	const text = Array.from({ length: 20000 }, (_, i) => i * 7919 % 1000).join(' ');
	const counts = new Map();
	for (const word of text.split(/\s+/))
		counts.set(word, (counts.get(word) || 0) + 1);
	const keys = [...counts.keys()].sort((a, b) => counts.get(a) - counts.get(b));
	return JSON.parse(JSON.stringify(keys)).length + text.replace(/(\d)(\d)/g, '$2$1').length;
}

function packed() {
	const data = zlib.gzipSync(Buffer.alloc(100000, 'hostprof'));
	return crypto.createHash('sha256').update(data).digest()[0];
}

const end = Date.now() + 1000 * Number(process.argv[2] || 2);
let total = 0;
while (Date.now() < end)
	total += sum(grow(12, 1)) + words() + packed();
console.log(total);
