/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view: the tree as it is drawn now, merged from the recorded tree by process, thread, tier and
 * direction. Nodes are in breadth-first order, so that the children of a node are one range
 * [first, first + count), heaviest first, and lie side by side from start[node] on.
 */

/* Labels with equal keys share a box when they have the same caller. */
function viewKeys(page, tree, options)
{
	const keys = options.tiers ? page.mergeKey.map((_, label) => label) : page.mergeKey.slice();
	const byName = new Map();

	if (!options.grouped)
		return keys;
	for (const { node, process } of processNodes(tree)) {
		const label = tree.label[node];
		const { name } = page.processes[process] || { name: labelName(page, label) };
		if (!byName.has(name))
			byName.set(name, keys[label]);
		keys[label] = byName.get(name);
	}
	return keys;
}

class ViewBuilder {
	constructor(page, tree, options)
	{
		const capacity = tree.size + 1;

		this.page = page;
		this.tree = tree;
		this.options = options;
		this.keys = viewKeys(page, tree, options);
		this.slot = new Int32Array(page.labels.name.length);
		this.stamp = new Int32Array(page.labels.name.length).fill(-1);
		this.next = new Int32Array(capacity);
		this.mixed = new Uint8Array(capacity);
		this.weight = tree.totals[options.metric];
		this.selfWeight = tree.selfs[options.metric];
		const metrics = Object.keys(tree.totals);
		const amounts = Object.fromEntries(metrics.map(metric =>
			[metric, new Float64Array(capacity)]));
		/* In the order of the metrics: of the recorded tree, and of the view. */
		this.totals = metrics.map(metric => tree.totals[metric]);
		this.selfs = metrics.map(metric => tree.selfs[metric]);
		this.sums = metrics.map(metric => amounts[metric]);
		this.view = {
			page, tree, options, size: 0, levels: 1,
			label: new Int32Array(capacity), kind: new Uint8Array(capacity),
			parent: new Int32Array(capacity), depth: new Int32Array(capacity),
			first: new Int32Array(capacity), count: new Int32Array(capacity),
			start: new Float64Array(capacity), amounts, total: amounts[options.metric],
			self: new Float64Array(capacity),
			head: new Int32Array(capacity), next: this.next,
		};
	}

	add(parent, source, label)
	{
		const view = this.view;
		const node = view.size++;

		view.label[node] = label;
		view.kind[node] = this.page.labels.kind[label];
		view.parent[node] = parent;
		view.depth[node] = parent < 0 ? 0 : view.depth[parent] + 1;
		view.levels = Math.max(view.levels, view.depth[node] + 1);
		view.head[node] = -1;
		return node;
	}

	/* The child of `parent` that a frame of this label belongs to, new when there is none. */
	childFor(parent, source, label)
	{
		const key = this.keys[label];

		if (this.stamp[key] !== parent) {
			this.stamp[key] = parent;
			this.slot[key] = this.add(parent, source, label);
		}
		return this.slot[key];
	}

	/* `columns` are this.totals or this.selfs, of which node `at` is added. */
	join(node, entry, source, columns, at, self)
	{
		const view = this.view;

		for (let i = 0; i < columns.length; i++)
			this.sums[i][node] += columns[i][at];
		view.self[node] += self;
		if (this.page.labels.kind[this.tree.label[source]] !== view.kind[node])
			this.mixed[node] = 1;
		this.next[entry] = view.head[node];
		view.head[node] = entry;
	}

	isSkipped(source)
	{
		const { page, tree, options } = this;
		const kind = page.labels.kind[tree.label[source]];

		if (kind !== page.levelKind)
			return options.hidden.has(kind);
		if (tree.depth[source] === 1)
			return options.merged;
		return page.threads && tree.depth[source] === 2 && !options.threads;
	}

	/* Frames that are left out hand their children and their own weight to who called them. */
	gather(node, source)
	{
		const { tree, view } = this;

		for (let c = source + 1; c < tree.end[source]; c = tree.end[c]) {
			if (this.isSkipped(c)) {
				view.self[node] += this.selfWeight[c];
				this.gather(node, c);
				continue;
			}
			this.join(this.childFor(node, c, tree.label[c]), c, c, this.totals, c,
				  this.selfWeight[c]);
		}
	}

	children(node)
	{
		const view = this.view;

		view.first[node] = view.size;
		this.spread(node);
		view.count[node] = view.size - view.first[node];
		this.sort(view.first[node], view.size);
		let start = view.start[node];
		for (let c = view.first[node]; c < view.size; c++) {
			view.start[c] = start;
			start += view.total[c];
			if (this.mixed[c])
				view.kind[c] = heaviestKind(view, c);
		}
	}

	spread(node)
	{
		const chain = [];

		for (let s = this.view.head[node]; s >= 0; s = this.next[s])
			chain.push(s);
		for (const source of chain)
			this.gather(node, source);
	}

	sort(from, to)
	{
		const { total, label, kind, self, head } = this.view;
		let sorted = true;

		for (let i = from + 1; i < to && sorted; i++)
			sorted = total[i - 1] >= total[i];
		if (sorted)
			return;
		const order = Array.from({ length: to - from }, (_, i) => from + i);
		order.sort((a, b) => total[b] - total[a]);
		for (const column of [...this.sums, label, kind, self, head, this.mixed]) {
			const copy = order.map(i => column[i]);
			column.set(copy, from);
		}
	}

	build()
	{
		const view = this.view;
		const root = Math.max(this.options.process, 0);

		this.add(-1, root, this.tree.label[root]);
		this.join(0, root, root, this.totals, root, this.selfWeight[root]);
		for (let node = 0; node < view.size; node++)
			this.children(node);
		return view;
	}
}

/*
 * The kinds of the recorded frames that a box was merged from, as a map from kind to weight. In a
 * reversed view the entries of a box are leaves, which have come to `at` on their way to the root.
 */
function kindWeights(view, node)
{
	const { page, tree, at, options } = view;
	const kinds = new Map();
	const weight = (at ? tree.selfs : tree.totals)[options.metric];

	for (let s = view.head[node]; s >= 0; s = view.next[s]) {
		const kind = page.labels.kind[tree.label[at ? at[s] : s]];
		kinds.set(kind, (kinds.get(kind) || 0) + weight[s]);
	}
	return kinds;
}

function heaviestKind(view, node)
{
	let best = view.kind[node];
	let most = -1;

	for (const [kind, weight] of kindWeights(view, node)) {
		if (weight > most)
			[best, most] = [kind, weight];
	}
	return best;
}

/*
 * Callers of the leaves: every recorded node with samples of its own is an entry that walks
 * towards the root, one step per level. Steps are cut where a box gets too small to be seen at
 * any sensible zoom, or the walk of 500,000 stacks of depth 100 would take seconds.
 */
const REVERSE_SMALLEST = 1 / 20000;

class ReverseBuilder extends ViewBuilder {
	build()
	{
		const { view, tree } = this;
		const root = Math.max(this.options.process, 0);

		this.capacity = view.label.length;
		this.root = root;
		this.at = view.at = new Int32Array(tree.size);
		this.add(-1, root, tree.label[root]);
		this.sums.forEach((sum, i) => { sum[0] = this.totals[i][root]; });
		for (let s = root; s < tree.end[root]; s++) {
			if (this.selfWeight[s] > 0) {
				this.at[s] = -1;
				this.next[s] = view.head[0];
				view.head[0] = s;
			}
		}
		for (let node = 0; node < view.size; node++)
			this.children(node);
		return view;
	}

	/* Towards the root, past what is left out; -1 at the end. */
	caller(source)
	{
		for (let s = source; s > this.root; s = this.tree.parent[s]) {
			if (!this.isSkipped(s))
				return s;
		}
		return -1;
	}

	spread(node)
	{
		const { view, tree } = this;
		const small = view.total[0] * REVERSE_SMALLEST;

		if (view.total[node] < small || view.size >= this.capacity - 1)
			return;
		for (let entry = view.head[node], next; entry >= 0; entry = next) {
			next = this.next[entry];
			const from = node ? tree.parent[this.at[entry]] : entry;
			const source = this.caller(from);
			const weight = this.selfWeight[entry];
			if (source < 0 || this.isFull(node, source))
				continue;
			this.at[entry] = source;
			const child = this.childFor(node, source, tree.label[source]);
			this.join(child, entry, source, this.selfs, entry, node ? 0 : weight);
		}
		view.head[node] = -1;
	}

	isFull(node, source)
	{
		const label = this.tree.label[source];

		return this.view.size >= this.capacity - 1 &&
			this.stamp[this.keys[label]] !== node;
	}
}

function buildView(page, tree, options)
{
	return new (options.reverse ? ReverseBuilder : ViewBuilder)(page, tree, options).build();
}

/* A search is over labels; then every sample under a match below `root` is counted once. */
function findMatches(view, labelMatches, root)
{
	const covered = new Uint8Array(view.size);
	const found = { weight: 0, count: 0, nodes: [] };
	const from = view.start[root];
	const to = from + view.total[root];

	for (let node = root; node < view.size; node++) {
		const matches = labelMatches[view.label[node]];
		const parent = view.parent[node];
		covered[node] = matches || (parent >= 0 && covered[parent]) ? 1 : 0;
		if (!matches || view.start[node] < from || view.start[node] >= to)
			continue;
		found.count++;
		if (parent < 0 || node === root || !covered[parent]) {
			found.weight += view.total[node];
			found.nodes.push(node);
		}
	}
	found.nodes.sort((a, b) => view.total[b] - view.total[a]);
	return found;
}

function labelsThatMatch(page, expression)
{
	const byName = page.names.map(name => expression.test(name));

	return Uint8Array.from(page.labels.name, name => byName[name]);
}

/* The root of the recorded tree, above all processes. */
const ALL = 'All processes';

function nodeTitle(view, node)
{
	if (node === 0 && view.options.process === 0)
		return view.options.merged ? `${ALL}, merged` : ALL;
	const name = labelName(view.page, view.label[node]);
	const count = view.options.grouped && view.depth[node] === 1 ? chainLength(view, node) : 1;
	return count > 1 ? `${name.replace(/-\d+$/, '')} \u00d7 ${count}` : name;
}

function chainLength(view, node)
{
	let length = 0;

	for (let s = view.head[node]; s >= 0; s = view.next[s])
		length++;
	return view.options.reverse || view.kind[node] !== view.page.levelKind ? 1 : length;
}

/* The node at the end of a path of names from the root, or the last one that is still there. */
function followPath(view, names)
{
	let node = 0;

	for (const name of names) {
		let child = -1;
		for (let c = view.first[node]; c < view.first[node] + view.count[node]; c++) {
			if (nodeTitle(view, c) === name) {
				child = c;
				break;
			}
		}
		if (child < 0)
			break;
		node = child;
	}
	return node;
}

function pathTo(view, node)
{
	const path = [];

	for (let n = node; n >= 0; n = view.parent[n])
		path.push(n);
	return path.reverse();
}
