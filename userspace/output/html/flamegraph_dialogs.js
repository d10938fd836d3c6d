/* SPDX-License-Identifier: Apache-2.0 */
/* What opens over the graph: tooltip, quality, help. */

/* --- tooltip --- */

function tipRows(view, node)
{
	const { page, tree, options } = view;
	const { unit } = tree.event;
	const total = view.total[node];
	const parent = view.parent[node];
	const { weight, samples, objects } = view.amounts;
	const all = tree.totals[options.metric][0];
	const rows = [['Total', unit === 'count' ? '' : formatValue(weight[node], unit),
		       formatSamples(samples[node])]];

	if (objects && objects[node])
		rows.push(['Objects', formatCount(objects[node]),
			   `${formatValue(weight[node] / objects[node], unit)} each`]);
	rows.push(['Self', formatValue(view.self[node], options.metric === 'weight' ? unit : 'count'),
		   formatShare(view.self[node], view.total[0])]);
	rows.push(['Share of view', formatShare(total, view.total[0]), '']);
	if (options.process > 0)
		rows.push(['Share of all', formatShare(total, all), '']);
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

function whyCut(page, id)
{
	return `The stack is cut here: ${page.reasons[id] || id}.`;
}

function fillTip(view, node, theme)
{
	const { page } = view;
	const label = view.label[node];
	const kind = page.kinds[view.kind[node]];
	const kindLine = make('div', 'kind', kind.title);
	const where = view.kind[node] === page.levelKind ? processFacts(view, node) :
		labelModule(page, label);
	const id = labelName(page, label).match(/^\[unwind: (.*)\]$/);

	kindLine.style.setProperty('--swatch', theme === 'dark' ? kind.dark : kind.color);
	byId('tip').replaceChildren(make('div', 'name', nodeTitle(view, node)),
		...(where ? [make('div', 'where', where)] : []),
		...(id ? [make('div', 'where', whyCut(page, id[1]))] : []),
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
	const all = view.total[0];

	return `${nodeTitle(view, node)}, ${formatShare(view.total[node], all)} of view, ` +
		`self ${formatShare(view.self[node], all)}`;
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

	const cut = row => row.samples - row.complete;
	rows.sort((a, b) => b.lost - a.lost || cut(b) - cut(a) || b.samples - a.samples);
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
		return [name, page.reasons[id] || '', formatCount(count),
			formatShare(count, samples)];
	});
	const rows = qualityRows(page, tree);
	const parts = [make('h2', '', 'Quality of this recording'),
		make('p', '', `${formatCount(complete)} of ${formatCount(samples)} stacks ` +
		     `(${formatShare(complete, samples)}) reach their thread\u2019s first frame. ` +
		     `${formatCount(lost)} samples were lost.`)];

	if (tree.event.pruned_nodes)
		parts.push(make('p', '', `${formatCount(tree.event.pruned_nodes)} boxes below ` +
			`${formatShare(tree.event.pruned_below, tree.total[0])} each are left ` +
			'out of this page and drawn as \u201c[smaller frames]\u201d.'));
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

/* --- help --- */

const HELP = [
	[['Click', 'Enter'], 'zoom into a box; a box of the path above takes the zoom back'],
	[['Esc'], 'back to the zoom before; then ends the search'],
	[['0', 'double click'], 'reset the zoom'],
	[['Ctrl + wheel', 'drag'], 'zoom at the pointer, move sideways'],
	[['\u2190', '\u2191', '\u2192', '\u2193'], 'move the selection'],
	[['/'], 'search: a regular expression; case matters once it holds a capital'],
	[['N', 'Shift + N'], 'next and previous match, heaviest first'],
	[['I'], 'flip: roots at the top or at the bottom'],
	[['R'], 'reverse: the leaves first, then who calls them'],
	[['G'], 'processes of one name as one box, or each for itself'],
	[['M'], 'Java: one box per method, or one per tier'],
	[['T'], 'a level for every thread, where it was recorded'],
	[['P'], 'show or hide the processes'],
	[['D'], 'light or dark'],
	[['C'], 'copy the name of the selected box'],
];

const READING = [
	'Each box is a function. Its width is its share of all samples; the boxes that touch it ' +
	'on the far side from the root are what it called, the heaviest first.',
	'Colours say what kind of code it is: click a kind below the graph to highlight it, ' +
	'Shift+click to leave it out. Hatched boxes mark stacks that could not be followed to ' +
	'their first frame.',
	'Of several events one is shown at a time, each in the same place: process, zoomed box and search ' +
	'stay. What bytes stand for can be the width too: samples, or objects.',
];

function fillHelp(page)
{
	const rows = HELP.map(([keys, text]) => make('tr', '',
		make('td', '', ...keys.flatMap((key, i) => [i ? ' ' : '', make('kbd', '', key)])),
		make('td', '', text)));

	byId('help').replaceChildren(make('h2', '', 'Keys and hints'),
		make('table', '', make('tbody', '', ...rows)), make('h3', '', 'Reading it'),
		...READING.map(text => make('p', '', text)),
		make('p', '', page.command ? `Made by ${page.program}: ${page.command}` : ''));
}
