// SPDX-License-Identifier: Apache-2.0
#include "elf/go/go_table.h"

#include <string.h>

#include "base/macros.h"

/* Kubernetes' largest program has 150,000. */
#define MAX_FUNCTIONS (1U << 20)
#define MAX_HEADER    72

static const struct go_layout *layout_of(const struct go_table *table)
{
	return &go_layouts[table->at.form];
}

struct cfi_bytes go_table_bytes(const struct go_table *table, uint64_t at, uint64_t len)
{
	const uint8_t *bytes = NULL;

	if (at < table->at.size && len <= table->at.size - at)
		bytes = cfi_reader_get(table->reader, table->at.offset + at, len);
	return (struct cfi_bytes){ bytes, bytes ? bytes + len : NULL, !bytes };
}

size_t go_table_entries(const struct go_table *table, uint64_t at, struct go_entry *entries,
			size_t max)
{
	const unsigned int width = layout_of(table)->entry;
	/* Before 1.16 offsets of functions were those of all tables. */
	const uint64_t base = table->at.form == GO_1_2 ? 0 : table->at.functab;
	uint8_t bytes[GO_MAX_ENTRIES * 2 * sizeof(uint64_t)];
	uint64_t offset = table->at.functab + at * 2 * width;
	size_t n = MIN(max, (size_t)GO_MAX_ENTRIES);
	struct cfi_bytes b = { bytes, bytes, false };

	if (at > table->at.count || offset > table->at.size)
		return 0;
	n = MIN(MIN(n, table->at.count + 1 - at), (table->at.size - offset) / (2 * width));
	n = cfi_reader_copy(table->reader, table->at.offset + offset, bytes, n * 2 * width) /
	    (2 * width);
	b.end = bytes + n * 2 * width;
	for (size_t i = 0; i < n; i++) {
		entries[i].start = table->at.text + cfi_bytes_fixed(&b, width);
		entries[i].func = base + cfi_bytes_fixed(&b, width);
	}
	/* The one behind the last function is its address alone. */
	return n;
}

bool go_table_function(const struct go_table *table, const struct go_entry *entries,
		       struct go_function *ret)
{
	const struct go_layout *layout = layout_of(table);
	struct cfi_bytes b = go_table_bytes(table, entries[0].func, layout->head);

	*ret = (struct go_function){ .start = entries[0].start, .end = entries[1].start };
	if (ret->end <= ret->start)
		return false;
	cfi_bytes_skip(&b, layout->entry);
	ret->name = (uint32_t)cfi_bytes_fixed(&b, 4);
	cfi_bytes_skip(&b, 8); /* args, deferreturn */
	ret->pcsp = (uint32_t)cfi_bytes_fixed(&b, 4);
	ret->pcfile = (uint32_t)cfi_bytes_fixed(&b, 4);
	ret->pcline = (uint32_t)cfi_bytes_fixed(&b, 4);
	ret->pcdata_count = (uint32_t)cfi_bytes_fixed(&b, 4);
	if (layout->unit)
		ret->unit = (uint32_t)cfi_bytes_fixed(&b, 4);
	if (b.bad)
		return false;
	cfi_bytes_skip(&b, cfi_bytes_left(&b) - 3); /* startLine, funcID */
	ret->flags = cfi_bytes_byte(&b);
	cfi_bytes_skip(&b, 1);
	ret->funcdata_count = cfi_bytes_byte(&b);
	ret->pcdata = entries[0].func + layout->head;
	return !b.bad;
}

bool go_table_function_at(const struct go_table *table, uint64_t at, struct go_function *ret)
{
	struct go_entry entries[2];

	return go_table_entries(table, at, entries, 2) == 2 &&
	       go_table_function(table, entries, ret);
}

uint64_t go_table_find(const struct go_table *table, uint64_t address)
{
	uint64_t low = 0, high = table->at.count, middle;
	struct go_entry entry;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (go_table_entries(table, middle, &entry, 1) != 1)
			return low;
		if (entry.start <= address)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* --- lists of values -------------------------------------------------------------------------- */

bool go_steps_begin(struct go_steps *steps, const struct go_table *table, uint32_t offset,
		    uint64_t start, uint64_t len)
{
	uint64_t at = table->at.pctab + offset;

	*steps = (struct go_steps){ .start = start, .pc = start, .end = start, .value = -1 };
	if (!offset || at >= table->at.size)
		return false;
	steps->bytes = go_table_bytes(table, at, MIN(len, table->at.size - at));
	return !steps->bytes.bad;
}

bool go_steps_next(struct go_steps *steps)
{
	uint32_t step = (uint32_t)cfi_bytes_uleb(&steps->bytes);
	uint32_t len = (uint32_t)cfi_bytes_uleb(&steps->bytes);

	if (steps->bytes.bad || (step == 0 && steps->end != steps->start) || len == 0)
		return false;
	steps->value = (int32_t)((uint32_t)steps->value + (step >> 1 ^ -(step & 1)));
	steps->pc = steps->end;
	steps->end += len;
	return true;
}

bool go_table_value(const struct go_table *table, const struct go_function *function,
		    uint32_t offset, uint64_t address, int32_t *ret_value)
{
	static const uint64_t lengths[] = { GO_STEPS_SHORT, GO_STEPS_LONG };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct go_steps steps;

		if (!go_steps_begin(&steps, table, offset, function->start, lengths[i]))
			return false;
		while (go_steps_next(&steps)) {
			if (address >= steps.end)
				continue;
			*ret_value = steps.value;
			return true;
		}
		if (!steps.bytes.bad)
			break;
	}
	return false;
}

bool go_table_text(const struct go_table *table, uint64_t part, uint64_t at, char *ret_text,
		   size_t size)
{
	size_t n;

	if (part >= table->at.size || at >= table->at.size - part)
		return false;
	n = MIN(size - 1, table->at.size - part - at);
	n = cfi_reader_copy(table->reader, table->at.offset + part + at, ret_text, n);
	ret_text[n] = '\0';
	return n > 0;
}

size_t go_table_code(const struct go_table *table, uint64_t address, void *buf, size_t size)
{
	return cfi_reader_copy(table->reader, address + table->at.code, buf, size);
}

/* --- the header ------------------------------------------------------------------------------- */

static int form_of(uint32_t magic)
{
	for (int form = 0; form < GO_FORMS; form++)
		if (go_layouts[form].magic == magic)
			return form;
	return -1;
}

static bool is_sound(const struct go_place *at)
{
	return at->form < GO_FORMS && at->count && at->count <= MAX_FUNCTIONS &&
	       at->names < at->size && at->units < at->size && at->files < at->size &&
	       at->pctab < at->size && at->functab < at->size && at->offset + at->size > at->size &&
	       at->inlined + at->inlined_size >= at->inlined;
}

/* Before 1.16 the functions come directly, and then where the files are; all counts from the beginning. */
static void read_old_header(struct go_table *table)
{
	struct cfi_bytes b;

	table->at.functab = go_layouts[GO_1_2].header;
	if (table->at.count > MAX_FUNCTIONS)
		return;
	b = go_table_bytes(table, table->at.functab + table->at.count * 16 + 8, 4);
	table->at.files = cfi_bytes_fixed(&b, 4);
}

bool go_table_read_header(struct go_table *table, uint64_t *ret_text)
{
	uint8_t bytes[MAX_HEADER];
	size_t n = cfi_reader_copy(table->reader, table->at.offset, bytes,
				   MIN(sizeof(bytes), table->at.size));
	struct cfi_bytes b = { bytes, bytes + n, false };
	struct go_place *at = &table->at;
	int form = form_of((uint32_t)cfi_bytes_fixed(&b, 4));

	*ret_text = 0;
	if (form < 0 || cfi_bytes_fixed(&b, 2) != 0)
		return false;
	if (cfi_bytes_fixed(&b, 2) != 0x0801) /* bytes of an instruction, of a pointer */
		return false;
	at->form = (uint32_t)form;
	at->count = cfi_bytes_fixed(&b, 8);
	if (form == GO_1_2) {
		read_old_header(table);
		return !b.bad && is_sound(at);
	}
	cfi_bytes_skip(&b, 8); /* files */
	if (go_layouts[form].text)
		*ret_text = cfi_bytes_fixed(&b, 8);
	at->names = cfi_bytes_fixed(&b, 8);
	at->units = cfi_bytes_fixed(&b, 8);
	at->files = cfi_bytes_fixed(&b, 8);
	at->pctab = cfi_bytes_fixed(&b, 8);
	at->functab = cfi_bytes_fixed(&b, 8);
	return !b.bad && is_sound(at);
}

bool go_table_resume(struct go_table *table, struct cfi_reader *reader, const struct go_place *at)
{
	*table = (struct go_table){ .at = *at };
	if (!is_sound(at))
		return false;
	table->reader = reader;
	return true;
}
