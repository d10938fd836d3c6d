/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything around the graph: figures, process list, legend, tooltip, dialogs. Names come from
 * other people's programs, so they only ever enter the page as text nodes.
 */

function byId(id)
{
	return document.getElementById(id);
}

/* make('td', 'number', 'text' or children...) */
function make(tag, className, ...children)
{
	const element = document.createElement(tag);

	if (className)
		element.className = className;
	element.append(...children);
	return element;
}

/* --- numbers --- */

function formatShare(part, whole)
{
	const percent = whole > 0 ? part / whole * 100 : 0;

	if (percent === 0 || percent >= 99.995)
		return `${percent.toFixed(0)} %`;
	if (percent > 99)
		return `${Math.min(percent, 99.99).toFixed(2)} %`;
	const digits = percent >= 10 ? 1 : percent >= 0.1 ? 2 : 3;
	return percent < 0.001 ? '< 0.001 %' : `${percent.toFixed(digits)} %`;
}

function formatCount(value)
{
	return Math.round(value).toLocaleString('en');
}

function formatSamples(count)
{
	const text = count ? formatCount(count) : 'no';

	return `${text} ${text === '1' ? 'sample' : 'samples'}`;
}

function scaled(value, steps)
{
	for (const [size, unit] of steps) {
		if (value >= size) {
			const n = value / size;
			return `${n >= 100 ? n.toFixed(0) : n >= 10 ? n.toFixed(1) : n.toFixed(2)} ${unit}`;
		}
	}
	return `${formatCount(value)} ${steps[steps.length - 1][1]}`;
}

function formatValue(value, unit)
{
	if (unit === 'nanoseconds')
		return scaled(value, [[3.6e12, 'h'], [6e10, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s'], [1, 'ns']]);
	if (unit === 'bytes')
		return scaled(value, [[2 ** 40, 'TB'], [2 ** 30, 'GB'], [2 ** 20, 'MB'], [2 ** 10, 'kB'], [1, 'B']]);
	return formatCount(value) + (unit && unit !== 'count' ? ` ${unit}` : '');
}

/* "1 Jan 2026, 14:05", in the reader's words. */
function formatDate(date)
{
	return date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/* --- header --- */

function eventTotals(page, tree)
{
	const totals = { samples: 0, complete: 0, lost: 0 };

	for (const row of page.quality) {
		if (row.event !== tree.event.id)
			continue;
		totals.samples += row.samples;
		totals.complete += row.complete;
		totals.lost += row.lost;
	}
	return totals;
}

function showFacts(page, tree)
{
	const facts = [];
	const jvms = page.processes.filter(process => process.jvm).length;
	const count = tree.event.processes.length;
	const { unit } = tree.event;

	if (page.host)
		facts.push(page.host);
	if (page.start_ms)
		facts.push(formatDate(new Date(page.start_ms)));
	if (page.duration_ns)
		facts.push(formatValue(page.duration_ns, 'nanoseconds'));
	facts.push(`${tree.event.name || 'no event'}: ${formatSamples(tree.samples[0])}` +
		   (unit !== 'count' && tree.total[0] ? `, ${formatValue(tree.total[0], unit)}` : ''));
	facts.push(`${formatCount(count)} ${count === 1 ? 'process' : 'processes'}` +
		   (jvms ? `, ${jvms} ${jvms === 1 ? 'JVM' : 'JVMs'}` : ''));
	byId('facts').replaceChildren(...facts.map(fact => make('span', '', fact)));
}

function showQualityChip(page, tree)
{
	const button = byId('quality-button');
	const { samples, complete, lost } = eventTotals(page, tree);

	button.hidden = samples === 0;
	button.textContent = `${formatShare(complete, samples)} complete` +
		(lost ? `, ${formatCount(lost)} lost` : '');
	button.classList.toggle('bad', complete < 0.99 * samples || lost > 0);
	button.title = 'Stacks that reach the thread\u2019s first frame; click for the reasons of the others';
}

/* --- quality --- */

/* Weight of every "[unwind: reason]" box: each cut stack has one. */
function cutStacks(page, tree)
{
	const reasons = new Map();

	for (let i = 0; i < tree.size; i++) {
		const name = labelName(page, tree.label[i]);
		if (name.startsWith('[unwind: '))
			reasons.set(name, (reasons.get(name) || 0) + tree.samples[i]);
	}
	return [...reasons].sort((a, b) => b[1] - a[1]);
}

function table(head, rows, numbers)
{
	const line = (cells, tag) => make('tr', '', ...cells.map((cell, i) =>
		make(tag, numbers.includes(i) ? 'number' : '', String(cell))));

	return make('table', '', make('thead', '', line(head, 'th')),
		    make('tbody', '', ...rows.map(row => line(row, 'td'))));
}

function qualityRows(page, tree)
{
	const rows = page.quality.filter(row => row.event === tree.event.id);

	rows.sort((a, b) => b.lost - a.lost || (b.samples - b.complete) - (a.samples - a.complete) ||
		  b.samples - a.samples);
	return rows.map(row => {
		const process = page.processes[row.process];
		return [process ? `${process.name} ${process.pid}` : '?', formatCount(row.samples),
			formatShare(row.complete, row.samples), formatCount(row.lost)];
	});
}

function fillQuality(page, tree)
{
	const { samples, complete, lost } = eventTotals(page, tree);
	const dialog = byId('quality');
	const reasons = cutStacks(page, tree).map(([name, count]) => {
		const id = name.slice(9, -1);
		return [name, page.reasons[id] || '', formatCount(count), formatShare(count, samples)];
	});
	const rows = qualityRows(page, tree);
	const parts = [make('h2', '', 'Quality of this recording'),
		make('p', '', `${formatCount(complete)} of ${formatCount(samples)} stacks ` +
		     `(${formatShare(complete, samples)}) reach their thread\u2019s first frame. ` +
		     `${formatCount(lost)} samples were lost.`)];

	if (tree.event.pruned_nodes)
		parts.push(make('p', '', `${formatCount(tree.event.pruned_nodes)} boxes below ` +
			`${formatShare(tree.event.pruned_below, tree.total[0])} each are left out of this page ` +
			'and drawn as \u201c[smaller frames]\u201d.'));
	if (reasons.length)
		parts.push(make('h3', '', 'Why the other stacks end early'),
			table(['Reason', '', 'Samples', 'Share'], reasons, [2, 3]));
	parts.push(make('h3', '', 'By process'),
		table(['Process', 'Samples', 'Complete', 'Lost'], rows.slice(0, 200), [1, 2, 3]));
	if (page.counters.length)
		parts.push(make('h3', '', 'Counters'), table(['Name', 'Detail', 'Value'],
			page.counters.map(c => [c.name, c.detail, formatCount(c.value)]), [2]));
	dialog.replaceChildren(...parts);
}

/* --- processes --- */

function processButton(text, pid, more, share, node)
{
	const button = make('button', '', make('span', 'name', text), make('span', 'share', share.text));

	if (pid || more)
		button.append(make('span', 'more', [pid ? `pid ${pid}` : '', more].filter(Boolean).join(' \u00b7 ')));
	button.type = 'button';
	button.dataset.node = node;
	button.style.setProperty('--share', `${share.percent}%`);
	return make('li', '', button);
}

function processMore(process)
{
	if (process.jvm)
		return process.main || `Java ${process.jvm}`;
	return process.container ? `container ${process.container.slice(0, 12)}` : '';
}

function fillProcesses(page, tree, weight)
{
	const share = node => ({
		text: formatShare(weight[node], weight[0]),
		percent: weight[0] ? weight[node] / weight[0] * 100 : 0,
	});
	const items = processNodes(tree);

	items.sort((a, b) => weight[b.node] - weight[a.node]);
	byId('processes').replaceChildren(
		processButton(ALL, '', '', share(0), 0),
		processButton(`${ALL}, merged`, '', '', share(0), -1),
		...items.map(({ node, process }) => {
			const info = page.processes[process];
			return info ? processButton(info.name, info.pid, processMore(info), share(node), node) :
				processButton(labelName(page, tree.label[node]), '', '', share(node), node);
		}));
}

/* The tree's nodes of depth 1 with their index into page.processes. */
function processNodes(tree)
{
	const items = [];

	for (let node = 1; node < tree.size; node = tree.end[node])
		items.push({ node, process: tree.event.processes[items.length] });
	return items;
}

/* --- legend --- */

function kindShares(page, tree, root, self)
{
	const shares = new Float64Array(page.kinds.length);

	for (let i = root; i < tree.end[root]; i++)
		shares[page.labels.kind[tree.label[i]]] += self[i];
	return shares;
}

function fillLegend(page, shares, total, theme, state)
{
	const buttons = page.kinds.map((kind, i) => {
		if (!page.kindUsed[i] || i === page.levelKind)
			return null;
		const box = make('span', 'box');
		const button = make('button', state.hidden.has(i) ? 'left-out' : '', box,
				    make('span', 'label', kind.title),
				    make('span', 'share', formatShare(shares[i], total)));
		box.style.setProperty('--swatch', theme === 'dark' ? kind.dark : kind.color);
		button.type = 'button';
		button.dataset.kind = i;
		button.title = `${kind.title}: share of self time. Click highlights, Shift+click leaves these frames out`;
		button.setAttribute('aria-pressed', String(state.kind === i));
		return button;
	});

	byId('legend').replaceChildren(...buttons.filter(Boolean));
}

/* --- tooltip --- */

function tipRows(view, node)
{
	const { page, tree, options } = view;
	const { unit } = tree.event;
	const total = view.total[node];
	const parent = view.parent[node];
	const value = options.samples ? view.other[node] : total;
	const samples = options.samples ? total : view.other[node];
	const rows = [['Total', unit === 'count' ? '' : formatValue(value, unit),
		       formatSamples(samples)]];

	rows.push(['Self', formatValue(view.self[node], options.samples ? 'count' : unit),
		   formatShare(view.self[node], view.total[0])]);
	rows.push(['Share of view', formatShare(total, view.total[0]), '']);
	if (options.process > 0)
		rows.push(['Share of host', formatShare(total, (options.samples ? tree.samples : tree.total)[0]), '']);
	if (parent > 0)
		rows.push([options.reverse ? 'Share of callee' : 'Share of caller',
			   formatShare(total, view.total[parent]), '']);
	if (!options.reverse)
		rows.push(...tierRows(page, view, node));
	return rows.map(row => make('tr', '', ...row.map(cell => make('td', '', cell))));
}

/* How a Java method ran, when it ran in more than one way. */
function tierRows(page, view, node)
{
	const kinds = [...kindWeights(view, node)];

	if (kinds.length < 2)
		return [];
	kinds.sort((a, b) => b[1] - a[1]);
	return kinds.map(([kind, weight]) =>
		[page.kinds[kind].title, formatShare(weight, view.total[node]), '']);
}

function fillTip(view, node, theme)
{
	const { page } = view;
	const label = view.label[node];
	const kind = page.kinds[view.kind[node]];
	const kindLine = make('div', 'kind', kind.title);
	const where = labelModule(page, label);
	const id = labelName(page, label).match(/^\[unwind: (.*)\]$/);

	kindLine.style.setProperty('--swatch', theme === 'dark' ? kind.dark : kind.color);
	byId('tip').replaceChildren(make('div', 'name', nodeTitle(view, node)),
		...(where ? [make('div', 'where', where)] : []),
		...(id ? [make('div', 'where', `The stack is cut here: ${page.reasons[id[1]] || id[1]}.`)] : []),
		kindLine, make('table', '', ...tipRows(view, node)));
}

/* Beside the pointer, on the side where there is room. */
function placeTip(x, y)
{
	const tip = byId('tip');

	tip.hidden = false;
	const box = tip.getBoundingClientRect();
	const left = x + 14 + box.width > window.innerWidth ? x - box.width - 10 : x + 14;
	const top = y + 18 + box.height > window.innerHeight ? y - box.height - 12 : y + 18;
	tip.style.transform = `translate(${Math.max(left, 4)}px, ${Math.max(top, 4)}px)`;
}

function describeNode(view, node)
{
	return `${nodeTitle(view, node)}, ${formatShare(view.total[node], view.total[0])} of view, ` +
		`self ${formatShare(view.self[node], view.total[0])}`;
}

/* --- help --- */

const HELP = [
	['Click, Enter', 'zoom into a box; a box above or below takes the zoom back'],
	['Esc', 'back to the previous zoom; also ends a search'],
	['0, double click', 'reset the zoom'],
	['Ctrl + wheel', 'zoom at the pointer; drag moves sideways'],
	['\u2190 \u2191 \u2192 \u2193', 'move the selection'],
	['/', 'search: a regular expression, case matters once it holds a capital'],
	['N, Shift + N', 'next and previous match, heaviest first'],
	['I', 'flip: roots at the top or at the bottom'],
	['R', 'reverse: the leaves first, then who calls them'],
	['M', 'Java: one box per method, or one per tier'],
	['T', 'a level for every thread, where it was recorded'],
	['P', 'show or hide the processes'],
	['D', 'light or dark'],
	['C', 'copy the name of the selected box'],
];

function fillHelp(page)
{
	const rows = HELP.map(([keys, text]) => make('tr', '',
		make('td', '', ...keys.split(', ').flatMap((key, i) => i ? [', ', make('kbd', '', key)] : [make('kbd', '', key)])),
		make('td', '', text)));

	byId('help').replaceChildren(make('h2', '', 'Keys and hints'), make('table', '', make('tbody', '', ...rows)),
		make('h3', '', 'Reading it'),
		make('p', '', 'Each box is a function; its width is its share of all samples, and the boxes next to it ' +
		     'are what it called. Colours say what kind of code it is; click a kind below to highlight it, ' +
		     'Shift+click to leave it out. Hatched boxes mark stacks that could not be followed to their first frame.'),
		make('p', '', page.command ? `Made by: ${page.command}` : ''));
}
