/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/codemap/codemap_record.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* x86-64 user addresses; also keeps address + code_bytes from wrapping. */
#define CODEMAP_MAX_ADDRESS (1ULL << 56)
/* One piece of code; the largest real ones have 1 MB. */
#define CODEMAP_MAX_CODE (16U << 20)

static bool code_is_valid(uint64_t address, uint32_t code_bytes)
{
	return address && address < CODEMAP_MAX_ADDRESS && code_bytes &&
	       code_bytes <= CODEMAP_MAX_CODE;
}

/* What lies at TEXT, up to END. Without the flag (older agents) any bytes do. */
static int parse_descriptor(const struct codemap_method *m, const char *text, const char *end,
			    struct codemap_text *ret_descriptor)
{
	uint16_t len;

	*ret_descriptor = (struct codemap_text){ text, 0 };
	if (!(m->record.flags & CODEMAP_FLAG_DESCRIPTOR))
		return 0;
	if ((size_t)(end - text) < sizeof(len))
		return -EBADMSG;
	memcpy(&len, text, sizeof(len));
	text += sizeof(len);
	if (len > (size_t)(end - text))
		return -EBADMSG;
	*ret_descriptor = (struct codemap_text){ text, len };
	return 0;
}

static int parse_method(const struct codemap_method *m, size_t size, struct codemap_event *e)
{
	const char *text;
	size_t need;

	if (size < sizeof(*m))
		return -EBADMSG;
	need = sizeof(*m) + (size_t)m->line_count * sizeof(struct codemap_line) + m->class_len +
	       m->name_len + m->source_len;
	if (need > size || !m->number)
		return -EBADMSG;
	e->method.number = m->number;
	e->method.lines = (const void *)(m + 1);
	e->method.line_count = m->line_count;
	text = (const char *)(e->method.lines + m->line_count);
	e->method.class_name = (struct codemap_text){ text, m->class_len };
	text += m->class_len;
	e->method.name = (struct codemap_text){ text, m->name_len };
	text += m->name_len;
	e->method.source = (struct codemap_text){ text, m->source_len };
	return parse_descriptor(m, text + m->source_len, (const char *)m + size,
				&e->method.descriptor);
}

/* Entries lie within the record, ascend, and have frames. */
static int check_pcs(const struct codemap_load *load, size_t size)
{
	size_t at = sizeof(*load);
	int64_t last = -1;

	for (uint32_t i = 0; i < load->pc_count; i++) {
		const struct codemap_pc *pc = (const void *)((const char *)load + at);

		if (size - at < sizeof(*pc))
			return -EBADMSG;
		at += sizeof(*pc);
		if ((int64_t)pc->offset <= last || pc->offset > load->code_bytes || !pc->depth)
			return -EBADMSG;
		if (pc->depth > (size - at) / sizeof(struct codemap_frame))
			return -EBADMSG;
		at += pc->depth * sizeof(struct codemap_frame);
		last = pc->offset;
	}
	return 0;
}

static int parse_load(const struct codemap_load *load, size_t size, struct codemap_event *e)
{
	if (size < sizeof(*load) || !code_is_valid(load->address, load->code_bytes))
		return -EBADMSG;
	e->load.address = load->address;
	e->load.code_bytes = load->code_bytes;
	e->load.pc_count = load->pc_count;
	e->load.method = load->method;
	e->load.pcs = (const void *)(load + 1);
	return check_pcs(load, size);
}

static int parse_dynamic(const struct codemap_dynamic *d, size_t size, struct codemap_event *e)
{
	if (size < sizeof(*d) || d->name_len > size - sizeof(*d) ||
	    !code_is_valid(d->address, d->code_bytes))
		return -EBADMSG;
	e->dynamic.address = d->address;
	e->dynamic.code_bytes = d->code_bytes;
	e->dynamic.name = (struct codemap_text){ (const char *)(d + 1), d->name_len };
	return 0;
}

static int parse_thread(const struct codemap_thread *t, size_t size, struct codemap_event *e)
{
	if (size < sizeof(*t) || t->name_len > size - sizeof(*t))
		return -EBADMSG;
	e->thread.tid = t->tid;
	e->thread.java_thread = 0;
	e->thread.java_tid = t->java_tid;
	e->thread.name = (struct codemap_text){ (const char *)(t + 1), t->name_len };
	return 0;
}

static int parse_thread_seen(const struct codemap_thread_seen *t, size_t size,
			     struct codemap_event *e)
{
	if (size < sizeof(*t) || t->name_len > size - sizeof(*t))
		return -EBADMSG;
	e->thread.tid = 0;
	e->thread.java_thread = t->java_thread;
	e->thread.java_tid = t->java_tid;
	e->thread.name = (struct codemap_text){ (const char *)(t + 1), t->name_len };
	return 0;
}

static int parse_class(const struct codemap_class *c, size_t size, struct codemap_event *e)
{
	if (size < sizeof(*c) || c->name_len > size - sizeof(*c) || !c->id)
		return -EBADMSG;
	e->class.id = c->id;
	e->class.name = (struct codemap_text){ (const char *)(c + 1), c->name_len };
	return 0;
}

static int parse_objects(const struct codemap_objects *o, size_t size, struct codemap_event *e)
{
	if (size < sizeof(*o) || o->count > (size - sizeof(*o)) / sizeof(struct codemap_object))
		return -EBADMSG;
	e->objects.items = (const void *)(o + 1);
	e->objects.count = o->count;
	e->objects.level = o->level;
	e->objects.seq = o->seq;
	return 0;
}

static int parse_body(const struct codemap_record *r, struct codemap_event *e)
{
	switch (r->kind) {
	case CODEMAP_METHOD: return parse_method((const void *)r, r->size, e);
	case CODEMAP_LOAD: return parse_load((const void *)r, r->size, e);
	case CODEMAP_UNLOAD:
		if (r->size < sizeof(struct codemap_unload))
			return -EBADMSG;
		e->unload.address = ((const struct codemap_unload *)(const void *)r)->address;
		return 0;
	case CODEMAP_DYNAMIC: return parse_dynamic((const void *)r, r->size, e);
	case CODEMAP_GAP:
		if (r->size < sizeof(struct codemap_gap))
			return -EBADMSG;
		e->gap.dropped = ((const struct codemap_gap *)(const void *)r)->dropped;
		return 0;
	case CODEMAP_THREAD:
	case CODEMAP_THREAD_END: return parse_thread((const void *)r, r->size, e);
	case CODEMAP_THREAD_SEEN: return parse_thread_seen((const void *)r, r->size, e);
	case CODEMAP_CLASS: return parse_class((const void *)r, r->size, e);
	case CODEMAP_GONE:
	case CODEMAP_LIVE:
	case CODEMAP_LIVE_END: return parse_objects((const void *)r, r->size, e);
	default: return 0;
	}
}

ssize_t codemap_parse(const void *data, size_t len, struct codemap_event *ret_event)
{
	const struct codemap_record *r = data;
	int err;

	if (len < sizeof(*r))
		return 0;
	if (r->size < sizeof(*r) || r->size % 8 || r->size > CODEMAP_MAX_RECORD_BYTES)
		return -EBADMSG;
	if (r->size > len)
		return 0;
	ret_event->kind = r->kind;
	ret_event->flags = r->flags;
	ret_event->time_ns = r->time_ns;
	err = parse_body(r, ret_event);
	return err ? err : (ssize_t)r->size;
}
