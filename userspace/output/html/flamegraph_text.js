/* SPDX-License-Identifier: Apache-2.0 */
/* Elements, and numbers as people read them. */

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

const TIMES = [
	[3.6e12, 'h'], [6e10, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s'], [1, 'ns'],
];
const SIZES = [
	[2 ** 40, 'TB'], [2 ** 30, 'GB'], [2 ** 20, 'MB'], [2 ** 10, 'kB'], [1, 'B'],
];

/* Three digits in the largest unit that gives at least one. */
function scaled(value, steps)
{
	const [size, unit] = steps.find(step => value >= step[0]) || steps[steps.length - 1];
	const n = value / size;

	return `${n.toFixed(size === 1 || n >= 100 ? 0 : n >= 10 ? 1 : 2)} ${unit}`;
}

function formatValue(value, unit)
{
	if (unit === 'nanoseconds')
		return scaled(value, TIMES);
	if (unit === 'bytes')
		return scaled(value, SIZES);
	return formatCount(value) + (unit && unit !== 'count' ? ` ${unit}` : '');
}

/* "1 Jan 2026, 14:05", in the reader's words. */
function formatDate(date)
{
	return date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
