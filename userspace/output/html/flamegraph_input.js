/* SPDX-License-Identifier: Apache-2.0 */
/* Controls, keys and the pointer; and the start of it all. */

const WHEEL_SPEED = 0.0025;
const DRAG_STARTS = 4; /* px */
const SEARCH_WAITS_MS = 120;

class FlameApp extends FlamePage {
	fillEvents()
	{
		const { events } = this.page;

		const options = events.map((event, i) => new Option(event.name, i));
		byId('event').replaceChildren(...options);
		byId('event-label').hidden = events.length < 2;
	}

	setTheme(theme)
	{
		this.state.theme = theme;
		document.documentElement.dataset.theme = theme;
		this.graph.setTheme(theme);
		if (!this.view)
			return;
		this.showLegend();
		this.redraw();
	}

	toggle(name)
	{
		this.state[name] = !this.state[name];
		this.rebuild();
	}

	toggleTheme()
	{
		this.setTheme(this.state.theme === 'dark' ? 'light' : 'dark');
	}

	toggleProcesses()
	{
		const side = byId('side');

		side.hidden = !side.hidden;
		byId('processes-button').setAttribute('aria-pressed', String(!side.hidden));
		this.resized();
	}

	flip()
	{
		const scroll = byId('scroll');

		this.state.rootOnTop = !this.state.rootOnTop;
		this.graph.rootOnTop = this.state.rootOnTop;
		this.markControls();
		scroll.scrollTop = this.state.rootOnTop ? 0 : scroll.scrollHeight;
		this.redraw();
	}

	resized()
	{
		if (!this.view)
			return;
		this.graph.resize();
		this.drawNow();
	}

	pickKind(kind, leaveOut)
	{
		const { state } = this;

		if (leaveOut) {
			if (!state.hidden.delete(kind))
				state.hidden.add(kind);
			this.rebuild();
			return;
		}
		state.kind = state.kind === kind ? -1 : kind;
		this.showLegend();
		this.redraw();
	}

	filterProcesses(text)
	{
		const needle = text.toLowerCase();

		for (const item of byId('processes').children)
			item.hidden = !item.textContent.toLowerCase().includes(needle);
	}

	async copyName()
	{
		const node = this.state.cursor >= 0 ? this.state.cursor : this.state.hover;

		if (node < 0 || !navigator.clipboard)
			return;
		try {
			await navigator.clipboard.writeText(this.graph.title(node));
			this.say('Name copied');
		} catch {
			this.say('The browser does not let this page copy');
		}
	}

	listen()
	{
		this.listenControls();
		this.listenPointer();
		byId('scroll').addEventListener('scroll', () => this.redraw());
		new ResizeObserver(() => this.resized()).observe(byId('scroll'));
		matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
			this.setTheme(preferredTheme()));
		document.addEventListener('keydown', event => this.key(event));
		window.addEventListener('beforeprint', () => this.print(true));
		window.addEventListener('afterprint', () => this.print(false));
	}

	listenControls()
	{
		const click = (id, action) => byId(id).addEventListener('click', action);
		const nodeOf = event => event.target.closest('button');

		click('threads', () => this.toggle('threads'));
		click('tiers', () => this.toggle('tiers'));
		click('grouped', () => this.toggle('grouped'));
		click('reverse', () => this.toggle('reverse'));
		click('flip', () => this.flip());
		click('theme', () => this.toggleTheme());
		click('processes-button', () => this.toggleProcesses());
		click('next', () => this.step(1));
		click('previous', () => this.step(-1));
		click('help-button', () => byId('help').showModal());
		click('quality-button', () => byId('quality').showModal());
		click('path', event => {
			if (nodeOf(event))
				this.zoom(Number(nodeOf(event).dataset.node));
		});
		click('processes', event => {
			if (nodeOf(event))
				this.showProcess(Number(nodeOf(event).dataset.node));
		});
		click('legend', event => {
			if (nodeOf(event))
				this.pickKind(Number(nodeOf(event).dataset.kind), event.shiftKey);
		});
		this.listenFields();
		for (const dialog of document.querySelectorAll('dialog')) {
			dialog.addEventListener('click', event => {
				if (event.target === dialog)
					dialog.close();
			});
		}
	}

	listenFields()
	{
		const on = (id, type, action) =>
			byId(id).addEventListener(type, event => action(event.target.value));

		on('event', 'change', value => this.showEvent(Number(value)));
		on('metric', 'change', value => {
			this.state.metric = value;
			fillProcesses(this.page, this.tree, this.weight);
			this.rebuild();
		});
		on('process-filter', 'input', value => this.filterProcesses(value));
		on('search', 'input', value => {
			clearTimeout(this.searching);
			this.searching = setTimeout(() => this.search(value), SEARCH_WAITS_MS);
		});
	}

	/* --- pointer --- */

	listenPointer()
	{
		const canvas = byId('graph');

		canvas.addEventListener('pointermove', event => this.pointerMoved(event));
		canvas.addEventListener('pointerleave', () => this.pointAt(-1));
		canvas.addEventListener('pointerdown', event => {
			const { x0, x1 } = this.graph;
			this.drag = { x: event.clientX, x0, x1, moved: false };
		});
		canvas.addEventListener('click', event => {
			const node = this.graph.nodeAt(event.offsetX, event.offsetY);
			if (node >= 0 && !(this.drag && this.drag.moved))
				this.zoom(node);
		});
		canvas.addEventListener('dblclick', () => this.zoom(0));
		window.addEventListener('pointerup', () => setTimeout(() => { this.drag = null; }));
		byId('scroll').addEventListener('wheel', event => this.wheel(event),
						{ passive: false });
	}

	pointerMoved(event)
	{
		const { drag, graph } = this;

		if (drag && event.buttons === 1 && Math.abs(event.clientX - drag.x) > DRAG_STARTS)
			drag.moved = true;
		if (drag && drag.moved && event.buttons === 1) {
			const by = (drag.x - event.clientX) / graph.width * (drag.x1 - drag.x0);
			this.setWindow(drag.x0 + by, drag.x1 + by);
			return;
		}
		this.pointAt(graph.nodeAt(event.offsetX, event.offsetY),
			     event.clientX, event.clientY);
	}

	pointAt(node, x, y)
	{
		if (node !== this.state.hover) {
			this.state.hover = node;
			this.placeOutline('hover', node);
			this.showStatus(node);
			if (node >= 0)
				fillTip(this.view, node, this.state.theme);
		}
		if (node >= 0)
			placeTip(x, y);
		else
			byId('tip').hidden = true;
	}

	wheel(event)
	{
		const { graph } = this;

		if (!event.ctrlKey)
			return;
		event.preventDefault();
		const at = graph.x0 + event.offsetX / graph.scale;
		const factor = Math.exp(event.deltaY * WHEEL_SPEED);
		this.setWindow(at - (at - graph.x0) * factor, at + (graph.x1 - at) * factor);
	}

	setWindow(x0, x1)
	{
		const { graph, view } = this;
		const all = view.total[0] || 1;
		const width = Math.min(Math.max(x1 - x0, all * 1e-9), all);

		graph.x0 = Math.min(Math.max(x0, 0), all - width);
		graph.x1 = graph.x0 + width;
		this.redraw();
	}

	/* --- keys --- */

	key(event)
	{
		const typing = event.target.matches('input, select');

		if (document.querySelector('dialog[open]'))
			return;
		if (typing && event.target.id === 'search' && this.searchKey(event))
			return;
		if (typing || event.ctrlKey || event.metaKey || event.altKey)
			return;
		const action = this.actionFor(event);
		if (!action)
			return;
		event.preventDefault();
		action();
	}

	searchKey(event)
	{
		if (event.key === 'Enter') {
			clearTimeout(this.searching);
			if (event.target.value !== this.state.search)
				this.search(event.target.value);
			this.step(event.shiftKey ? -1 : 1);
		} else if (event.key === 'Escape') {
			this.clearSearch();
			byId('graph').focus();
		} else {
			return false;
		}
		event.preventDefault();
		return true;
	}

	actionFor(event)
	{
		const { state } = this;
		const onButton = event.target.closest && event.target.closest('button');
		const down = state.rootOnTop ? 1 : -1;
		const keys = {
			'/': () => byId('search').focus(),
			'?': () => byId('help').showModal(),
			'0': () => this.zoom(0),
			Escape: () => this.back(),
			ArrowDown: () => this.moveDepth(down),
			ArrowUp: () => this.moveDepth(-down),
			ArrowLeft: () => this.moveAside(-1),
			ArrowRight: () => this.moveAside(1),
			n: () => this.step(1),
			N: () => this.step(-1),
			i: () => this.flip(),
			r: () => this.toggle('reverse'),
			g: () => this.toggle('grouped'),
			m: () => this.toggle('tiers'),
			p: () => this.toggleProcesses(),
			d: () => this.toggleTheme(),
			c: () => this.copyName(),
		};

		if (this.page.threads)
			keys.t = () => this.toggle('threads');
		if (!onButton)
			keys.Enter = () => this.zoom(state.cursor >= 0 ? state.cursor : state.zoom);
		return keys[event.key] || (event.shiftKey ? null : keys[event.key.toLowerCase()]);
	}

	/* On paper: light, and all rows up to what a canvas can hold. */
	print(on)
	{
		if (on)
			this.screenTheme = this.state.theme;
		this.graph.printHeight = on ? Math.min(this.graph.height, 4000) : 0;
		this.setTheme(on ? 'light' : this.screenTheme);
		this.resized();
	}
}

/* For tests and for the curious: what the page shows, and where. */
function expose(app)
{
	const { page, graph, state } = app;
	const find = name => {
		for (let node = 0; node < app.view.size; node++) {
			if (graph.title(node) === name)
				return node;
		}
		return -1;
	};

	return {
		state, find,
		ready: true,
		loadMs: performance.now(),
		get root() { return graph.title(0); },
		get zoomed() { return graph.title(state.zoom); },
		get selected() { return state.cursor >= 0 ? graph.title(state.cursor) : null; },
		get matchedShare()
		{
			return app.found ? app.found.weight / app.view.total[state.zoom] : null;
		},
		get total() { return app.view.total[0]; },
		get nodes() { return app.view.size; },
		get boxes() { return graph.boxes; },
		get drawMs() { return graph.drawMs; },
		get kinds() { return page.kinds.map(kind => kind.id); },
		totalOf: name => app.view.total[find(name)],
		selfOf: name => app.view.self[find(name)],
		childrenOf(name) {
			const node = find(name);
			const { first, count } = app.view;
			return Array.from({ length: count[node] },
					  (_, i) => graph.title(first[node] + i));
		},
		rectOf(name) {
			const node = find(name);
			return node < 0 ? null : graph.rect(node);
		},
		zoomTo: name => app.zoom(find(name)),
		get settled() { return !app.gliding && !app.pending; },
		timeDraw: times => Array.from({ length: times }, () => {
			graph.draw();
			return graph.drawMs;
		}),
	};
}

async function main()
{
	if (typeof DecompressionStream === 'undefined')
		throw new Error('Chrome 80, Firefox 113 or Safari 16.4 is needed');
	const app = new FlameApp(await loadPage(byId('data').textContent));
	byId('data').remove();
	app.start();
	window.hostprof = expose(app);
}

main().catch(error => {
	byId('wait').textContent = `This profile cannot be shown: ${error.message}`;
	byId('wait').hidden = false;
	window.hostprof = { ready: false, error: String(error.stack) };
});
