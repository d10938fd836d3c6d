/* SPDX-License-Identifier: Apache-2.0 */
/* State of the page, its controls and its keys. */

const ZOOM_MS = 160;
const WIDE_ENOUGH = 60; /* px of a box that a search jumps to */
const NARROW = 760; /* px; flamegraph_panel.css has it too */

class FlamePage {
	constructor(page)
	{
		this.page = page;
		this.state = {
			event: 0, process: 0, zoom: 0, cursor: -1, hover: -1, kind: -1,
			hidden: new Set(),
			threads: page.threads, tiers: false, reverse: page.reverse, merged: false,
			grouped: false,
			metric: 'weight', rootOnTop: true, theme: preferredTheme(), search: '',
		};
		this.history = [];
		this.found = null;
		this.foundAt = -1;
		page.kindUsed = new Uint8Array(page.kinds.length);
		page.labels.kind.forEach(kind => { page.kindUsed[kind] = 1; });
		this.graph = new FlameCanvas(byId('graph'), byId('scroll'), byId('spacer'), page);
	}

	get tree()
	{
		return this.page.trees[this.state.event];
	}

	get weight()
	{
		return this.tree.totals[this.state.metric];
	}

	start()
	{
		document.title = this.page.title;
		byId('title').textContent = this.page.title;
		byId('wait').hidden = true;
		this.fillEvents();
		fillHelp(this.page);
		this.setTheme(this.state.theme);
		this.listen();
		if (window.innerWidth <= NARROW || this.tree.event.processes.length < 2)
			this.toggleProcesses();
		this.showEvent(0, []);
	}

	/* --- what is shown --- */

	/* Stays where it is in the other event's tree: process, zoomed box, search. */
	showEvent(index, names = this.zoomNames())
	{
		const before = this.tree;

		this.state.event = index;
		this.state.process = sameProcess(before, this.tree, this.state.process);
		showFacts(this.page, this.tree);
		showQualityChip(this.page, this.tree);
		fillQuality(this.page, this.tree);
		this.showMetrics();
		fillProcesses(this.page, this.tree, this.weight);
		this.rebuild(names);
	}

	/* What the width of a box is, where that makes a difference. */
	showMetrics()
	{
		const { unit, period } = this.tree.event;
		const metric = byId('metric');

		byId('metric-label').hidden = unit === 'count' || period > 0;
		if (byId('metric-label').hidden)
			this.state.metric = 'weight';
		if (!this.tree.totals[this.state.metric])
			this.state.metric = 'weight';
		metric.replaceChildren(
			new Option(unit === 'nanoseconds' ? 'by time' : `by ${unit}`, 'weight'),
			new Option('by samples', 'samples'),
			...(this.tree.totals.objects ? [new Option('by objects', 'objects')] : []));
		metric.value = this.state.metric;
	}

	/* `node` of the recorded tree; 0 is the host, -1 the host without the process level. */
	showProcess(node)
	{
		this.state.process = Math.max(node, 0);
		this.state.merged = node < 0;
		this.rebuild([]);
		this.say(`Showing ${this.graph.title(0)}`);
	}

	/* After anything that changes the tree; tries to stay at the zoomed box. */
	rebuild(names = this.zoomNames())
	{
		const { state, page, graph } = this;

		this.view = buildView(page, this.tree, { ...state, hidden: state.hidden });
		graph.setView(this.view);
		this.history = [];
		state.cursor = -1;
		state.zoom = followPath(this.view, names);
		[graph.x0, graph.x1] = this.extent(state.zoom);
		this.markControls();
		graph.resize();
		if (!state.rootOnTop)
			byId('scroll').scrollTop = byId('scroll').scrollHeight;
		this.search(state.search);
		this.showPath();
	}

	zoomNames()
	{
		const path = this.view ? pathTo(this.view, this.state.zoom) : [];

		return path.slice(1).map(node => this.graph.title(node));
	}

	extent(node)
	{
		const start = this.view.start[node];

		return [start, start + (this.view.total[node] || 1)];
	}

	markControls()
	{
		const { state } = this;
		const current = state.merged ? -1 : state.process;

		for (const name of ['threads', 'tiers', 'reverse', 'grouped'])
			byId(name).setAttribute('aria-pressed', String(state[name]));
		byId('flip').setAttribute('aria-pressed', String(!state.rootOnTop));
		byId('threads').hidden = !this.page.threads;
		byId('grouped').hidden = this.tree.event.processes.length < 2;
		byId('tiers').hidden = !this.page.kinds.some((kind, i) =>
			kind.id.startsWith('java') && this.page.kindUsed[i]);
		for (const button of byId('processes').querySelectorAll('button')) {
			const isCurrent = Number(button.dataset.node) === current;
			button.setAttribute('aria-current', String(isCurrent));
		}
		this.showLegend();
	}

	showLegend()
	{
		const { state, tree } = this;
		const self = tree.selfs[state.metric];

		fillLegend(this.page, kindShares(this.page, tree, state.process, self),
			   this.weight[state.process], state.theme, state);
	}

	/* --- drawing --- */

	redraw()
	{
		if (this.pending)
			return;
		this.pending = requestAnimationFrame(() => {
			this.pending = 0;
			this.drawNow();
		});
	}

	drawNow()
	{
		const { graph, state } = this;

		graph.kind = state.kind;
		graph.zoomDepth = this.view.depth[state.zoom];
		graph.draw();
		this.placeOutline('hover', state.hover);
		this.placeOutline('cursor', state.cursor);
	}

	placeOutline(id, node)
	{
		const box = byId(id);
		const rect = node >= 0 ? this.graph.rect(node) : null;

		box.hidden = !rect || rect.width <= 0;
		if (box.hidden)
			return;
		const scroll = byId('scroll').scrollTop;
		box.style.transform = `translate(${rect.left}px, ${rect.top + scroll}px)`;
		box.style.width = `${Math.max(rect.width - 1, 3)}px`;
		box.style.height = `${rect.height}px`;
	}

	/* Move the window to a node's extent, in a few frames unless motion is unwelcome. */
	glide(to)
	{
		const { graph } = this;
		const from = [graph.x0, graph.x1];
		const began = performance.now();
		const still = document.hidden ||
			matchMedia('(prefers-reduced-motion: reduce)').matches;

		cancelAnimationFrame(this.gliding);
		const step = now => {
			const t = still ? 1 : Math.min(Math.max((now - began) / ZOOM_MS, 0), 1);
			const ease = 1 - (1 - t) ** 3;
			graph.x0 = t < 1 ? from[0] + (to[0] - from[0]) * ease : to[0];
			graph.x1 = t < 1 ? from[1] + (to[1] - from[1]) * ease : to[1];
			this.drawNow();
			this.gliding = t < 1 ? requestAnimationFrame(step) : 0;
		};
		step(began);
	}

	/* --- zoom --- */

	zoom(node, remember = true)
	{
		if (remember && node !== this.state.zoom)
			this.history.push(this.state.zoom);
		this.state.zoom = node;
		this.state.hover = -1;
		this.glide(this.extent(node));
		this.showPath();
		this.showMatched();
		this.say(`Zoomed into ${describeNode(this.view, node)}`);
	}

	/* First undo a drag or a wheel, then zooms, then the search. */
	back()
	{
		const [x0, x1] = this.extent(this.state.zoom);

		if (this.graph.x0 !== x0 || this.graph.x1 !== x1)
			this.glide([x0, x1]);
		else if (this.history.length)
			this.zoom(this.history.pop(), false);
		else if (this.state.zoom)
			this.zoom(0, false);
		else if (this.state.search)
			this.clearSearch();
	}

	showPath()
	{
		const path = pathTo(this.view, this.state.zoom);
		const last = window.innerWidth > NARROW ? 4 : 1;
		const shown = path.length > last + 2 ? [path[0], -1, ...path.slice(-last)] : path;
		const parts = [];

		for (const node of shown) {
			if (parts.length)
				parts.push(make('span', 'between', '\u203a'));
			if (node < 0) {
				const left = path.length - last - 1;
				parts.push(make('span', 'between', `${left} more`));
				continue;
			}
			const button = make('button', '', this.graph.title(node));
			button.type = 'button';
			button.dataset.node = node;
			if (node === this.state.zoom)
				button.setAttribute('aria-current', 'location');
			parts.push(button);
		}
		byId('path').replaceChildren(...parts);
	}

	/* --- search --- */

	search(text)
	{
		const { state, page, graph } = this;
		let expression = null;

		state.search = text;
		byId('search').setAttribute('aria-invalid', 'false');
		try {
			expression = text ? new RegExp(text, /[A-Z]/.test(text) ? '' : 'i') : null;
		} catch {
			byId('search').setAttribute('aria-invalid', 'true');
		}
		graph.matches = expression ? labelsThatMatch(page, expression) : null;
		this.showMatched();
		this.redraw();
	}

	/* The share of what is zoomed into; samples under nested matches count once. */
	showMatched()
	{
		const { graph, state, view } = this;
		const output = byId('matched');
		const invalid = byId('search').getAttribute('aria-invalid') === 'true';

		this.foundAt = -1;
		this.found = graph.matches ? findMatches(view, graph.matches, state.zoom) : null;
		output.classList.toggle('invalid', invalid);
		for (const id of ['next', 'previous'])
			byId(id).disabled = !this.found || !this.found.nodes.length;
		if (invalid)
			output.textContent = 'not a regular expression';
		else if (!this.found)
			output.textContent = '';
		else
			output.textContent = this.matchedText();
		if (this.found && !invalid)
			output.title = `${formatCount(this.found.count)} boxes match, ` +
				'every sample counted once';
	}

	matchedText()
	{
		const all = this.view.total[this.state.zoom];

		return `${formatShare(this.found.weight, all)} matched`;
	}

	clearSearch()
	{
		byId('search').value = '';
		this.search('');
	}

	step(by)
	{
		const nodes = this.found ? this.found.nodes : [];

		if (!nodes.length)
			return;
		this.foundAt = this.foundAt < 0 && by < 0 ? nodes.length - 1 :
			(this.foundAt + by + nodes.length) % nodes.length;
		this.select(nodes[this.foundAt]);
		const place = `${this.foundAt + 1} of ${formatCount(nodes.length)}`;
		byId('matched').textContent = `${place}, ${this.matchedText()}`;
	}

	/* --- selection --- */

	select(node)
	{
		this.state.cursor = node;
		this.reveal(node);
		this.showStatus(node);
		this.say(describeNode(this.view, node));
		this.redraw();
	}

	/* Scroll to the row; boxes too narrow to see get the zoom moved to who is wide enough. */
	reveal(node)
	{
		const { graph, view } = this;
		const scroll = byId('scroll');
		const top = graph.rowTop(view.depth[node]);
		let wide = node;

		if (top < 0 || top + ROW > graph.canvasHeight)
			scroll.scrollTop += top - graph.canvasHeight / 3;
		const outside = view.start[node] < graph.x0 || view.start[node] >= graph.x1;
		if (!outside && view.total[node] * graph.scale >= 2)
			return;
		const limit = view.total[node] * graph.width / WIDE_ENOUGH;
		while (view.parent[wide] >= 0 && view.total[wide] < limit)
			wide = view.parent[wide];
		const found = [this.found, this.foundAt];
		this.zoom(wide);
		[this.found, this.foundAt] = found;
	}

	/* `toward` is 1 for callees, -1 for callers, whatever side they are drawn on. */
	moveDepth(toward)
	{
		const { view, state } = this;
		const node = state.cursor < 0 ? state.zoom : state.cursor;

		if (state.cursor < 0)
			this.select(node);
		else if (toward > 0 && view.count[node])
			this.select(view.first[node]);
		else if (toward < 0 && view.parent[node] >= 0)
			this.select(view.parent[node]);
	}

	moveAside(by)
	{
		const { view, state } = this;
		const node = state.cursor < 0 ? state.zoom : state.cursor;
		const next = node + by;

		if (next > 0 && next < view.size && view.depth[next] === view.depth[node])
			this.select(next);
	}

	showStatus(node)
	{
		byId('status').textContent = node >= 0 ? describeNode(this.view, node) : '';
	}

	say(text)
	{
		byId('live').textContent = text;
	}
}

function preferredTheme()
{
	return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}
