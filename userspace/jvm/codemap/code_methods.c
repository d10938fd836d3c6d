/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/codemap/code_methods.h"

#include <string.h>

#include "jvm/java_name.h"

/* The bytes behind an id: this head, lines, then class, name and source with their NULs. */
struct method_head {
	uint32_t line_count;
	uint32_t name_at; /* from the class name */
	uint32_t source_at;
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
	/* An entry of a table takes some 16 bytes, at about half load. */
	return m->methods.bytes + (intern_len(&m->methods) + m->numbers.len) * 32;
}

void code_methods_add(struct code_methods *m, const struct codemap_event *e)
{
	struct method_head head = { .line_count = e->method.line_count };
	struct strbuf *s = &m->scratch;
	size_t text;

	strbuf_reset(s);
	strbuf_add(s, &head, sizeof(head));
	strbuf_add(s, e->method.lines, head.line_count * sizeof(struct codemap_line));
	text = s->len;
	java_name_add_class(s, e->method.class_name.data, e->method.class_name.len);
	strbuf_addch(s, '\0');
	head.name_at = (uint32_t)(s->len - text);
	java_name_add_text(s, e->method.name.data, e->method.name.len);
	strbuf_addch(s, '\0');
	head.source_at = (uint32_t)(s->len - text);
	java_name_add_text(s, e->method.source.data, e->method.source.len);
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

/*
 * Tables are not always sorted: the entry that starts last before the bci covers it. LINES is not
 * aligned.
 */
static int32_t find_line(const char *lines, uint32_t count, int32_t bci)
{
	int32_t best = -1, line = 0;

	bci = MAX(bci, 0);
	for (uint32_t i = 0; i < count; i++) {
		struct codemap_line l;

		memcpy(&l, lines + i * sizeof(l), sizeof(l));
		if (l.bci <= bci && l.bci > best) {
			best = l.bci;
			line = l.line;
		}
	}
	return line;
}

void code_methods_fill_frame(const struct code_methods *m, uint32_t id, int32_t bci,
			     struct java_frame *ret_frame)
{
	struct java_frame f = { "", "[unknown method]", "", 0, MAX(bci, -1), false };
	struct method_head head;
	const char *lines;

	if (id < intern_len(&m->methods)) {
		const char *data = intern_get(&m->methods, id, NULL);

		memcpy(&head, data, sizeof(head));
		lines = data + sizeof(head);
		f.class_name = lines + head.line_count * sizeof(struct codemap_line);
		f.method = f.class_name + head.name_at;
		f.source = f.class_name + head.source_at;
		f.line = find_line(lines, head.line_count, bci);
	}
	*ret_frame = f;
}
