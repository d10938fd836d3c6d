/* SPDX-License-Identifier: Apache-2.0 */
/* Records of a code map as an agent writes them, one after the other into a buffer. */
#ifndef HOSTPROF_TESTS_CODEMAP_FIXTURE_H
#define HOSTPROF_TESTS_CODEMAP_FIXTURE_H

#include <string.h>

#include "codemap.h"

#define MS 1000000ULL

struct record_buffer {
	_Alignas(8) char data[65536];
	size_t len;
};

static inline void *record_begin(struct record_buffer *b, uint16_t kind, uint16_t flags,
				 uint64_t time_ns, size_t size)
{
	struct codemap_record *r = (void *)(b->data + b->len);

	memset(r, 0, (size + 7) & ~7UL);
	r->size = (uint32_t)((size + 7) & ~7UL);
	r->kind = kind;
	r->flags = flags;
	r->time_ns = time_ns;
	b->len += r->size;
	return r;
}

static inline void put_method(struct record_buffer *b, uint64_t number, const char *class_name,
			      const char *name, const char *source, uint16_t bci, uint16_t line)
{
	size_t c = strlen(class_name), n = strlen(name), s = strlen(source);
	struct codemap_method *m;
	struct codemap_line *l;
	char *text;

	m = record_begin(b, CODEMAP_METHOD, CODEMAP_FLAG_REPLAYED, 0,
			 sizeof(*m) + 2 * sizeof(*l) + c + n + s);
	l = (void *)(m + 1);
	m->number = number;
	m->class_len = (uint16_t)c;
	m->name_len = (uint16_t)n;
	m->source_len = (uint16_t)s;
	m->line_count = 2;
	l[0] = (struct codemap_line){ 0, 1 };
	l[1] = (struct codemap_line){ bci, line };
	text = (char *)(l + 2);
	memcpy(text, class_name, c);
	memcpy(text + c, name, n);
	memcpy(text + c + n, source, s);
}

/* A method without lines and source, as an agent that knows descriptors writes it. */
static inline struct codemap_method *put_overload(struct record_buffer *b, uint64_t number,
						  const char *class_name, const char *name,
						  const char *descriptor)
{
	size_t c = strlen(class_name), n = strlen(name);
	uint16_t d = (uint16_t)strlen(descriptor);
	struct codemap_method *m = record_begin(b, CODEMAP_METHOD, CODEMAP_FLAG_DESCRIPTOR, 0,
						sizeof(*m) + c + n + sizeof(d) + d);
	char *text = (char *)(m + 1);

	m->number = number;
	m->class_len = (uint16_t)c;
	m->name_len = (uint16_t)n;
	memcpy(text, class_name, c);
	memcpy(text + c, name, n);
	memcpy(text + c + n, &d, sizeof(d));
	memcpy(text + c + n + sizeof(d), descriptor, d);
	return m;
}

/* One pc per entry of DEPTHS; its frames are methods FIRST, FIRST + 1, … innermost first, bci 5. */
struct pc_spec {
	uint32_t offset;
	uint32_t depth;
	uint64_t first;
};

static inline struct codemap_load *put_load(struct record_buffer *b, uint16_t flags,
					    uint64_t time_ns, uint64_t address, uint32_t bytes,
					    uint64_t method, const struct pc_spec *pcs,
					    uint32_t count)
{
	size_t size = sizeof(struct codemap_load);
	struct codemap_load *load;
	char *at;

	for (uint32_t i = 0; i < count; i++)
		size += sizeof(struct codemap_pc) + pcs[i].depth * sizeof(struct codemap_frame);
	load = record_begin(b, CODEMAP_LOAD, flags, time_ns, size);
	load->address = address;
	load->code_bytes = bytes;
	load->pc_count = count;
	load->method = method;
	at = (char *)(load + 1);
	for (uint32_t i = 0; i < count; i++) {
		struct codemap_pc pc = { pcs[i].offset, pcs[i].depth };

		memcpy(at, &pc, sizeof(pc));
		at += sizeof(pc);
		for (uint32_t d = 0; d < pcs[i].depth; d++) {
			struct codemap_frame frame = { pcs[i].first + d, 5, 0 };

			memcpy(at, &frame, sizeof(frame));
			at += sizeof(frame);
		}
	}
	return load;
}

static inline void put_unload(struct record_buffer *b, uint64_t time_ns, uint64_t address)
{
	struct codemap_unload *u = record_begin(b, CODEMAP_UNLOAD, 0, time_ns, sizeof(*u));

	u->address = address;
}

static inline void put_dynamic(struct record_buffer *b, uint16_t flags, uint64_t time_ns,
			       uint64_t address, uint32_t bytes, const char *name)
{
	struct codemap_dynamic *d;

	d = record_begin(b, CODEMAP_DYNAMIC, flags, time_ns, sizeof(*d) + strlen(name));
	d->address = address;
	d->code_bytes = bytes;
	d->name_len = (uint32_t)strlen(name);
	memcpy(d + 1, name, d->name_len);
}

static inline void put_gap(struct record_buffer *b, uint64_t time_ns)
{
	struct codemap_gap *g = record_begin(b, CODEMAP_GAP, 0, time_ns, sizeof(*g));

	g->dropped = 1;
}

static inline void put_mark(struct record_buffer *b, uint16_t kind, uint64_t time_ns)
{
	record_begin(b, kind, 0, time_ns, sizeof(struct codemap_record));
}

static inline void put_thread(struct record_buffer *b, uint16_t kind, uint64_t time_ns,
			      uint32_t tid, uint64_t java_tid, const char *name)
{
	struct codemap_thread *t;

	t = record_begin(b, kind, 0, time_ns, sizeof(*t) + strlen(name));
	t->tid = tid;
	t->java_tid = java_tid;
	t->name_len = (uint32_t)strlen(name);
	memcpy(t + 1, name, t->name_len);
}

static inline void put_thread_seen(struct record_buffer *b, uint64_t java_thread, uint64_t java_tid,
				   const char *name)
{
	struct codemap_thread_seen *t;

	t = record_begin(b, CODEMAP_THREAD_SEEN, CODEMAP_FLAG_REPLAYED, 1,
			 sizeof(*t) + strlen(name));
	t->java_thread = java_thread;
	t->java_tid = java_tid;
	t->name_len = (uint32_t)strlen(name);
	memcpy(t + 1, name, t->name_len);
}

#endif
