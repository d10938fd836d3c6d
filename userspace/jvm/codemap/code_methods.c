/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/codemap/code_methods.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "jvm/java_name.h"

/* The bytes behind an id: this head, lines, then class, name, source and descriptor with their NULs. */
struct method_head {
	uint32_t line_count;
	uint32_t name_at; /* from the class name */
	uint32_t source_at;
	uint32_t descriptor_at;
};

void code_methods_init(struct code_methods *m)
{
	memset(m, 0, sizeof(*m));
}

void code_methods_release(struct code_methods *m)
{
	intern_release(&m->methods);
	hmap_release(&m->numbers);
	strbuf_release(&m->scratch);
}

size_t code_methods_bytes(const struct code_methods *m)
{
	return intern_bytes(&m->methods) + hmap_bytes(&m->numbers);
}

struct placed_line {
	struct codemap_line line;
	uint16_t place;
};

static int compare_lines(const void *a, const void *b)
{
	const struct placed_line *x = a, *y = b;

	return x->line.bci != y->line.bci ? x->line.bci - y->line.bci : x->place - y->place;
}

/* Tables are not always sorted. One may have 65,535 lines, and be asked for each frame of each sample. */
static void add_lines(struct strbuf *s, const struct codemap_line *lines, uint32_t count)
{
	_cleanup_free_ struct placed_line *sorted = NULL;
	uint32_t ascending = 1;

	while (ascending < count && lines[ascending - 1].bci <= lines[ascending].bci)
		ascending++;
	if (ascending >= count) {
		strbuf_add(s, lines, count * sizeof(*lines));
		return;
	}
	sorted = xcalloc(count, sizeof(*sorted));
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = (struct placed_line){ lines[i], (uint16_t)i };
	qsort(sorted, count, sizeof(*sorted), compare_lines);
	for (uint32_t i = 0; i < count; i++)
		strbuf_add(s, &sorted[i].line, sizeof(*lines));
}

void code_methods_add(struct code_methods *m, const struct codemap_event *e)
{
	struct method_head head = { .line_count = e->method.line_count };
	struct strbuf *s = &m->scratch;
	size_t text;

	strbuf_reset(s);
	strbuf_add(s, &head, sizeof(head));
	add_lines(s, e->method.lines, head.line_count);
	text = s->len;
	java_name_add_class(s, e->method.class_name.data, e->method.class_name.len);
	strbuf_addch(s, '\0');
	head.name_at = (uint32_t)(s->len - text);
	java_name_add_text(s, e->method.name.data, e->method.name.len);
	strbuf_addch(s, '\0');
	head.source_at = (uint32_t)(s->len - text);
	java_name_add_text(s, e->method.source.data, e->method.source.len);
	strbuf_addch(s, '\0');
	head.descriptor_at = (uint32_t)(s->len - text);
	java_name_add_descriptor(s, e->method.descriptor.data, e->method.descriptor.len);
	strbuf_addch(s, '\0');
	memcpy(s->buf, &head, sizeof(head));
	hmap_put(&m->numbers, e->method.number, intern_put(&m->methods, s->buf, s->len, NULL));
	m->highest_number = MAX(m->highest_number, e->method.number);
}

void code_methods_begin_replay(struct code_methods *m)
{
	uint64_t number, id;
	size_t at = 0;
	VEC(uint64_t) old = VEC_INIT;

	while (hmap_next(&m->numbers, &at, &number, &id))
		if (number <= m->replay_number)
			vec_push(&old, number);
	for (size_t i = 0; i < old.len; i++)
		hmap_remove(&m->numbers, old.items[i]);
	vec_release(&old);
	m->replay_number = m->highest_number;
}

uint32_t code_methods_find(const struct code_methods *m, uint64_t number)
{
	uint64_t id;

	return hmap_get(&m->numbers, number, &id) ? (uint32_t)id : CODE_METHOD_UNKNOWN;
}

/* The first entry of BCI or later. LINES is not aligned. */
static uint32_t lower_bound(const char *lines, uint32_t count, uint32_t bci)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		struct codemap_line l;

		memcpy(&l, lines + mid * sizeof(l), sizeof(l));
		if (l.bci < bci)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The entry that starts last before the bci covers it, the first of equal ones. */
static int32_t find_line(const char *lines, uint32_t count, int32_t bci)
{
	uint32_t after = lower_bound(lines, count, (uint32_t)MAX(bci, 0) + 1);
	struct codemap_line l;

	if (!after)
		return 0;
	memcpy(&l, lines + (after - 1) * sizeof(l), sizeof(l));
	after = lower_bound(lines, count, l.bci);
	memcpy(&l, lines + after * sizeof(l), sizeof(l));
	return l.line;
}

void code_methods_fill_frame(const struct code_methods *m, uint32_t id, int32_t bci,
			     struct java_frame *ret_frame)
{
	struct java_frame f = { .class_name = "",
				.method = "[unknown method]",
				.source = "",
				.descriptor = "",
				.bci = MAX(bci, -1) };
	struct method_head head;
	const char *lines;

	if (id < intern_len(&m->methods)) {
		const char *data = intern_get(&m->methods, id, NULL);

		memcpy(&head, data, sizeof(head));
		lines = data + sizeof(head);
		f.class_name = lines + head.line_count * sizeof(struct codemap_line);
		f.method = f.class_name + head.name_at;
		f.source = f.class_name + head.source_at;
		f.descriptor = f.class_name + head.descriptor_at;
		f.line = find_line(lines, head.line_count, bci);
	}
	*ret_frame = f;
}
