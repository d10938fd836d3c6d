/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the text in #data to typed arrays. The layout is written by view_html.c: base64 of zlib of
 * (u32 length, JSON, then per event its columns of unsigned LEB128 numbers, html_columns.h).
 */

function base64Bytes(text)
{
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);

	for (let i = 0; i < bytes.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

async function inflate(bytes)
{
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

class ColumnReader {
	constructor(bytes, at)
	{
		this.bytes = bytes;
		this.at = at;
	}

	/* Numbers above 2^53 lose their last digits, which no share can show. */
	number()
	{
		let value = 0;
		let factor = 1;

		for (;;) {
			const byte = this.bytes[this.at++];
			value += (byte & 127) * factor;
			if (byte < 128)
				return value;
			if (byte === undefined)
				throw new Error('the profile in this page is cut short');
			factor *= 128;
		}
	}

	column(array)
	{
		for (let i = 0; i < array.length; i++)
			array[i] = this.number();
		return array;
	}
}

/*
 * Nodes are in depth-first order: the first child of node i is i + 1, its next sibling is end[i].
 */
function readTree(reader, event)
{
	const size = event.nodes;
	const up = reader.column(new Int32Array(size));
	const tree = {
		event, size,
		label: reader.column(new Int32Array(size)),
		self: reader.column(new Float64Array(size)),
		selfSamples: null,
		parent: new Int32Array(size),
		end: new Int32Array(size),
		depth: new Int32Array(size),
	};

	if (event.period)
		tree.selfSamples = tree.self.map(value => value / event.period);
	else
		tree.selfSamples = reader.column(new Float64Array(size));
	linkTree(tree, up);
	tree.total = addUp(tree, tree.self);
	tree.samples = addUp(tree, tree.selfSamples);
	/* By metric: what the width of a box may be. */
	tree.selfs = { weight: tree.self, samples: tree.selfSamples };
	tree.totals = { weight: tree.total, samples: tree.samples };
	if (event.objects) {
		tree.selfs.objects = reader.column(new Float64Array(size));
		tree.totals.objects = addUp(tree, tree.selfs.objects);
	}
	return tree;
}

function linkTree(tree, up)
{
	const open = [];

	for (let i = 0; i < tree.size; i++) {
		for (let n = up[i]; n > 0; n--)
			tree.end[open.pop()] = i;
		tree.parent[i] = open.length ? open[open.length - 1] : -1;
		tree.depth[i] = open.length;
		open.push(i);
	}
	while (open.length)
		tree.end[open.pop()] = tree.size;
}

function addUp(tree, self)
{
	const total = self.slice();

	for (let i = tree.size - 1; i > 0; i--)
		total[tree.parent[i]] += total[i];
	return total;
}

/* The tree's nodes of depth 1 with their index into page.processes. */
function processNodes(tree)
{
	const items = [];

	for (let node = 1; node < tree.size; node = tree.end[node])
		items.push({ node, process: tree.event.processes[items.length] });
	return items;
}

/* The node in `to` of the process that `node` is in `from`; 0, all of them, where it is not there. */
function sameProcess(from, to, node)
{
	const item = node > 0 && processNodes(from).find(entry => entry.node === node);
	const same = item && item.process >= 0 &&
		processNodes(to).find(entry => entry.process === item.process);

	return same ? same.node : 0;
}

/*
 * Boxes of one method are drawn as one, however it ran: labels that differ only in the Java kind
 * share a merge key.
 */
function mergeKeys(labels, kinds)
{
	const keys = new Map();
	const java = kinds.map(kind => kind.id.startsWith('java'));

	return Int32Array.from(labels.name, (name, i) => {
		const kind = labels.kind[i];
		const key = java[kind] ? `${name}` : `${name}/${kind}/${labels.module[i]}`;
		if (!keys.has(key))
			keys.set(key, keys.size);
		return keys.get(key);
	});
}

async function loadPage(text)
{
	const bytes = await inflate(base64Bytes(text.trim()));
	const jsonLength = new DataView(bytes.buffer).getUint32(0, true);
	const page = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + jsonLength)));
	const reader = new ColumnReader(bytes, 4 + jsonLength);

	page.trees = page.events.map(event => readTree(reader, event));
	page.mergeKey = mergeKeys(page.labels, page.kinds);
	page.levelKind = page.kinds.length - 1;
	return page;
}

function labelName(page, label)
{
	return page.names[page.labels.name[label]];
}

function labelModule(page, label)
{
	return page.names[page.labels.module[label]];
}
