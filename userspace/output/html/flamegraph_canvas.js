/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drawing and hit testing. The canvas is as large as the visible part of the page (browsers refuse
 * canvases of 16,000 rows); what is drawn depends on the scroll position and on a window [x0, x1]
 * of weights that zooming moves. Only boxes of at least half a pixel are visited.
 */

const ROW = 19;
const SMALLEST = 0.5;
const TEXT_PAD = 4;
const TEXT_SMALLEST = 22;
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const SHADES = 6;

/* --- colours --- */

function parseColor(hex)
{
	return [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
}

function mixColor(a, b, share)
{
	return a.map((value, i) => Math.round(value + (b[i] - value) * share));
}

function cssColor(rgb)
{
	return `rgb(${rgb.join(',')})`;
}

/*
 * Per kind a few shades, picked by name, so that neighbours can be told apart; "dim" is for boxes
 * that a search, a highlighted kind or the zoom leaves behind.
 */
function makePalette(kinds, theme)
{
	const dark = theme === 'dark';
	const paper = dark ? [22, 24, 29] : [255, 255, 255];
	const ink = dark ? '#f4f5f8' : '#16181d';
	const swatch = rgb => ({ fill: cssColor(rgb), ink });
	const palette = { paper };

	palette.match = dark ? { fill: '#ec5cff', ink: '#16181d' } :
			       { fill: '#ba10ba', ink: '#ffffff' };

	palette.kinds = kinds.map(kind => {
		const base = parseColor(dark ? kind.dark : kind.color);
		const shades = [];
		for (let i = 0; i < SHADES; i++) {
			const rgb = mixColor(base, dark ? [0, 0, 0] : [255, 255, 255], i * 0.045);
			const dim = mixColor(rgb, paper, dark ? 0.5 : 0.68);
			shades.push({ ...swatch(rgb), dim: swatch(dim) });
		}
		return shades;
	});
	return palette;
}

function hashName(name)
{
	let hash = 2166136261;

	for (let i = 0; i < name.length; i++)
		hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
	return (hash >>> 8) % 65536;
}

/* --- names --- */

/* What is left of a name when the box is narrow: Class.method, a function without parameters. */
function shortName(name, isJava)
{
	if (name.startsWith('['))
		return name;
	if (isJava)
		return name.split('.').slice(-2).join('.');
	const bracket = name.indexOf('(', 1);
	const bare = bracket > 0 ? name.slice(0, bracket) : name;
	return bare.replace(/<[^<>]*(<[^<>]*>[^<>]*)*>/g, '<>');
}

class TextFitter {
	constructor(context)
	{
		context.font = FONT;
		this.context = context;
		this.widths = new Map();
		this.ellipsis = this.charWidth('\u2026');
	}

	charWidth(char)
	{
		let width = this.widths.get(char);

		if (width === undefined) {
			width = this.context.measureText(char).width;
			this.widths.set(char, width);
		}
		return width;
	}

	/* The part of `text` that fits, "" when that would be a mere letter or two. */
	fit(text, room)
	{
		let width = 0;
		let cut = 0;

		for (let i = 0; i < text.length; i++) {
			width += this.charWidth(text[i]);
			if (width + this.ellipsis <= room)
				cut = i + 1;
			if (width > room)
				return cut > 1 ? text.slice(0, cut) + '\u2026' : '';
		}
		return text;
	}

	fits(text, room)
	{
		return text.length * 3 < room && this.fit(text, room) === text;
	}
}

/* --- the graph --- */

class FlameCanvas {
	constructor(canvas, scroller, spacer, page)
	{
		this.canvas = canvas;
		this.scroller = scroller;
		this.spacer = spacer;
		this.page = page;
		this.context = canvas.getContext('2d');
		this.fitter = new TextFitter(this.context);
		this.shade = Uint8Array.from(page.labels.name,
			name => hashName(page.names[name]) % SHADES);
		this.isProblem = Uint8Array.from(page.labels.name,
			name => page.names[name].startsWith('[unwind: '));
		this.stack = [];
		this.boxes = 0;
		this.drawMs = 0;
		this.rootOnTop = true;
		this.kind = -1;
		this.zoomDepth = 0;
		this.matches = null;
	}

	setView(view)
	{
		this.view = view;
		this.x0 = 0;
		this.x1 = view.total[0] || 1;
		this.height = view.levels * ROW;
	}

	setTheme(theme)
	{
		this.palette = makePalette(this.page.kinds, theme);
		this.pattern = this.makeHatch(theme === 'dark' ? '#ffffff38' : '#00000030');
	}

	/* Boxes that say why a stack is cut are hatched: they are not code. */
	makeHatch(color)
	{
		const tile = document.createElement('canvas');
		const context = tile.getContext('2d');

		tile.width = tile.height = 8;
		context.strokeStyle = color;
		context.lineWidth = 2;
		for (const x of [-8, 0, 8]) {
			context.moveTo(x - 1, 9);
			context.lineTo(x + 9, -1);
		}
		context.stroke();
		return this.context.createPattern(tile, 'repeat');
	}

	resize()
	{
		const ratio = window.devicePixelRatio || 1;
		const width = Math.max(this.scroller.clientWidth, 50);
		const room = Math.max(this.scroller.clientHeight, ROW);
		const height = this.printHeight || room;

		this.spacer.style.height = `${Math.max(this.height, height)}px`;
		this.width = width;
		this.canvasHeight = height;
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${height}px`;
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
	}

	/* Top of a level in the canvas. */
	rowTop(depth)
	{
		const scroll = this.printHeight ? 0 : this.scroller.scrollTop;

		if (this.rootOnTop)
			return depth * ROW - scroll;
		const bottom = Math.max(this.height, this.canvasHeight);
		return bottom - (depth + 1) * ROW - scroll;
	}

	/* Children lie by falling weight from the parent's start on; the first that reaches x0. */
	firstVisible(node)
	{
		const { first, count, start, total } = this.view;
		let low = first[node];
		let high = low + count[node];

		while (low < high) {
			const middle = (low + high) >> 1;
			if (start[middle] + total[middle] <= this.x0)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	draw()
	{
		const began = performance.now();
		const { context, view, stack } = this;

		context.fillStyle = cssColor(this.palette.paper);
		context.fillRect(0, 0, this.width, this.canvasHeight);
		context.font = FONT;
		context.textBaseline = 'middle';
		this.scale = this.width / (this.x1 - this.x0);
		this.boxes = 0;
		stack.length = 0;
		stack.push(0);
		while (stack.length) {
			const node = stack.pop();
			const top = this.rowTop(view.depth[node]);
			if (top > -ROW && top < this.canvasHeight)
				this.drawBox(node, top);
			if (this.rootOnTop ? top < this.canvasHeight : top > -ROW)
				this.pushChildren(node);
		}
		this.drawMs = performance.now() - began;
	}

	pushChildren(node)
	{
		const { view, scale, stack, x0, x1 } = this;
		const end = view.first[node] + view.count[node];

		for (let c = this.firstVisible(node); c < end && view.start[c] < x1; c++) {
			if (view.total[c] * scale < SMALLEST) {
				this.drawRest(c, end - 1);
				break;
			}
			stack.push(c);
		}
	}

	/* Siblings that are too narrow to be seen one by one, as one pale strip. */
	drawRest(from, to)
	{
		const { view, scale, x0, context } = this;
		const left = Math.max((view.start[from] - x0) * scale, 0);
		const right = Math.min((view.start[to] + view.total[to] - x0) * scale, this.width);

		if (right - left < SMALLEST)
			return;
		context.fillStyle = this.palette.kinds[view.kind[from]][0].dim.fill;
		context.fillRect(left, this.rowTop(view.depth[from]), right - left, ROW - 1);
	}

	/* Left edge and width of a node, cut to the canvas's sides. */
	span(node)
	{
		const { view, scale, x0 } = this;
		const left = Math.max((view.start[node] - x0) * scale, 0);
		const end = (view.start[node] + view.total[node] - x0) * scale;

		return { left, width: Math.min(end, this.width) - left };
	}

	drawBox(node, top)
	{
		const { view, context } = this;
		const { left, width } = this.span(node);
		const gap = width > 3 ? 1 : width > 1.5 ? 0.4 : 0;
		const swatch = this.swatchFor(node);

		this.boxes++;
		context.fillStyle = swatch.fill;
		context.fillRect(left, top, width - gap, ROW - 1);
		if (this.isProblem[view.label[node]]) {
			context.fillStyle = this.pattern;
			context.fillRect(left, top, width - gap, ROW - 1);
		}
		if (width >= TEXT_SMALLEST)
			this.drawText(node, left, top, width, swatch.ink);
	}

	swatchFor(node)
	{
		const { view, palette } = this;
		const label = view.label[node];
		const swatch = palette.kinds[view.kind[node]][this.shade[label]];

		if (this.matches && this.matches[label])
			return palette.match;
		const isBehind = view.depth[node] < this.zoomDepth ||
			(this.kind >= 0 && view.kind[node] !== this.kind);
		if (this.matches || isBehind)
			return swatch.dim;
		return swatch;
	}

	drawText(node, left, top, width, ink)
	{
		const { context, fitter, view } = this;
		const room = width - 2 * TEXT_PAD;
		let text = this.title(node);

		if (!fitter.fits(text, room))
			text = fitter.fit(shortName(text, this.isJava(node)), room);
		if (!text)
			return;
		context.fillStyle = ink;
		context.fillText(text, left + TEXT_PAD, top + ROW / 2);
	}

	isJava(node)
	{
		return this.page.kinds[this.view.kind[node]].id.startsWith('java');
	}

	title(node)
	{
		return nodeTitle(this.view, node);
	}

	/* The node under a point of the canvas, -1 when there is none. */
	nodeAt(x, y)
	{
		const { view } = this;
		const at = this.x0 + x / this.scale;
		const depth = this.depthAt(y);
		let node = 0;

		if (depth < 0 || depth >= view.levels)
			return -1;
		while (view.depth[node] < depth) {
			node = this.childAt(node, at);
			if (node < 0)
				return -1;
		}
		return node;
	}

	depthAt(y)
	{
		const top = this.rowTop(0);

		return this.rootOnTop ? Math.floor((y - top) / ROW) : -Math.floor((y - top) / ROW);
	}

	childAt(node, at)
	{
		const { first, count, start, total } = this.view;
		let low = first[node];
		let high = low + count[node];

		while (low < high) {
			const middle = (low + high) >> 1;
			if (at < start[middle])
				high = middle;
			else if (at >= start[middle] + total[middle])
				low = middle + 1;
			else
				return middle;
		}
		return -1;
	}

	/* The box of a node in canvas coordinates, cut to the canvas's sides. */
	rect(node)
	{
		const { left, width } = this.span(node);

		return { left, width, top: this.rowTop(this.view.depth[node]), height: ROW - 1 };
	}
}
