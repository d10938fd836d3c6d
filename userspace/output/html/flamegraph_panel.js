/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands around the graph: figures, process list, legend. Names come from other people's
 * programs, so they only ever enter the page as text nodes.
 */

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
		   (unit === 'count' || !tree.total[0] ? '' :
		    `, ${formatValue(tree.total[0], unit)}`) +
		   (tree.totals.objects ? `, ${formatCount(tree.totals.objects[0])} objects` : ''));
	facts.push(...page.ratios || []);
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
	button.title = 'Stacks that reach the thread\u2019s first frame; ' +
		'click for the reasons of the others';
}

/* --- processes --- */

function processButton(text, pid, more, share, node)
{
	const button = make('button', '', make('span', 'name', text),
			    make('span', 'share', share.text));

	if (pid || more)
		button.append(make('span', 'more', joined(pid && `pid ${pid}`, more)));
	button.type = 'button';
	button.dataset.node = node;
	button.style.setProperty('--share', `${share.percent}%`);
	return make('li', '', button);
}

/* What is known of a process, in one line. */
function joined(...parts)
{
	return parts.filter(Boolean).join(' \u00b7 ');
}

function containerName(process)
{
	const name = process.container_name || process.container && process.container.slice(0, 12);

	return name && (process.container_image ? `container ${name} (${process.container_image})` : `container ${name}`);
}

function processMore(process)
{
	if (process.jvm)
		return process.main || `Java ${process.jvm}`;
	return containerName(process);
}

/* All that is known of the process that a box of the process level stands for. */
function processFacts(view, node)
{
	const { page, tree } = view;
	const source = view.at ? view.at[view.head[node]] : view.head[node];
	const item = processNodes(tree).find(entry => entry.node === source);
	const process = item && page.processes[item.process];

	if (!process || (view.options.grouped && chainLength(view, node) > 1))
		return '';
	return joined(process.exe, process.main, process.jvm && `Java ${process.jvm}`,
		      containerName(process));
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
			const name = info ? info.name : labelName(page, tree.label[node]);
			return processButton(name, info && info.pid, info && processMore(info),
					     share(node), node);
		}));
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
		button.title = `${kind.title}: share of self time. ` +
			'Click highlights, Shift+click leaves these frames out';
		button.setAttribute('aria-pressed', String(state.kind === i));
		return button;
	});

	byId('legend').replaceChildren(...buttons.filter(Boolean));
}
