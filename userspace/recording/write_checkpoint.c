/* SPDX-License-Identifier: Apache-2.0 */
/* Layout of a checkpoint: src/jdk.jfr/share/classes/jdk/jfr/internal/consumer/ChunkParser.java. */
#include <string.h>

#include "profile/frame_kind.h"
#include "recording/types.h"
#include "recording/write_pools.h"
#include "recording/write_values.h"

#define FLUSH_MASK 1 /* CheckpointType.FLUSH: the events before it are complete */

/*
 * In this order and under these numbers async-profiler writes them, and its converter goes by the
 * numbers (src/flightRecorder.cpp, JfrReader.java). The JDK's own begin with the same four.
 */
static const char *const frame_types[] = {
	"Interpreted", "JIT compiled", "Inlined", "Native", "C++", "Kernel", "C1 compiled",
};

static const uint8_t frame_type_keys[FRAME_KIND_COUNT] = {
	[FRAME_NATIVE] = 3,	   [FRAME_CPP] = 4,	  [FRAME_KERNEL] = 5,
	[FRAME_JAVA_C1] = 6,	   [FRAME_JAVA_JIT] = 1,  [FRAME_JAVA_INLINED] = 2,
	[FRAME_STUB] = 3,	   [FRAME_JIT_OTHER] = 1, [FRAME_CLASS] = 2,
	[FRAME_CLASS_OUTSIDE] = 5, [FRAME_MARK] = 3,	  [FRAME_JAVA_INTERPRETED] = 0,
	[FRAME_INLINED] = 2,	   [FRAME_RECEIVER] = 2,  [FRAME_COMPILING] = 1,
};

static const char *const states[] = {
	[JFR_STATE_RUNNABLE - 1] = "STATE_RUNNABLE",
	[JFR_STATE_SLEEPING - 1] = "STATE_SLEEPING",
	[JFR_STATE_UNKNOWN - 1] = "STATE_DEFAULT",
	/* The kernel's, which the JDK has no names for. */
	[JFR_STATE_BLOCKED - 1] = "STATE_UNINTERRUPTIBLE",
	[JFR_STATE_QUEUED - 1] = "STATE_RUN_QUEUE",
	[JFR_STATE_STOPPED - 1] = "STATE_STOPPED",
};

struct source {
	const struct jfr_pools *pools;
	const struct profile *p;
};

static void put_constant(struct strbuf *out, uint64_t key, const char *text)
{
	jfr_put_varint(out, key);
	jfr_put_utf8(out, text, strlen(text));
}

static void put_frame_type(struct strbuf *out, const struct source *from, uint32_t id)
{
	(void)from;
	put_constant(out, id, frame_types[id]);
}

static void put_state(struct strbuf *out, const struct source *from, uint32_t id)
{
	(void)from;
	put_constant(out, id + 1, states[id]);
}

static void put_frame_kind(struct strbuf *out, const struct source *from, uint32_t id)
{
	(void)from;
	put_constant(out, id + 1, frame_kind_info((enum frame_kind)id)->id);
}

static void put_symbol(struct strbuf *out, const struct source *from, uint32_t id)
{
	size_t len;
	const char *text = intern_get(&from->pools->symbols, id, &len);

	jfr_put_varint(out, jfr_key(from->pools, id));
	jfr_put_utf8(out, text, len);
}

static void put_class(struct strbuf *out, const struct source *from, uint32_t id)
{
	const uint32_t *symbol = intern_get(&from->pools->classes, id, NULL);

	jfr_put_varint(out, jfr_class_key(from->pools, id));
	jfr_put_varint(out, 0); /* class loader */
	jfr_put_varint(out, jfr_key(from->pools, *symbol));
	jfr_put_varint(out, 0); /* package: readers take it from the name */
	jfr_put_varint(out, 0); /* modifiers */
	jfr_put_byte(out, 0);	/* hidden */
}

static void put_method(struct strbuf *out, const struct source *from, uint32_t id)
{
	const struct jfr_method *method = intern_get(&from->pools->methods, id, NULL);

	jfr_put_varint(out, jfr_key(from->pools, id));
	jfr_put_varint(out, jfr_class_key(from->pools, method->class_id));
	jfr_put_varint(out, jfr_key(from->pools, method->name));
	jfr_put_varint(out, jfr_key(from->pools, method->descriptor));
	jfr_put_varint(out, 0); /* modifiers */
	jfr_put_byte(out, 0);	/* hidden */
}

void jfr_put_mapping(struct strbuf *out, const struct jfr_pools *pools,
		     const struct profile_mapping *m)
{
	jfr_put_varint(out, jfr_string_key(pools, m->path));
	jfr_put_varint(out, jfr_string_key(pools, m->build_id));
	jfr_put_varint(out, m->start);
	jfr_put_varint(out, m->limit);
	jfr_put_varint(out, m->offset);
}

static void put_mapping(struct strbuf *out, const struct source *from, uint32_t id)
{
	jfr_put_varint(out, jfr_key(from->pools, id));
	jfr_put_mapping(out, from->pools, profile_get_mapping(from->p, id));
}

void jfr_put_process(struct strbuf *out, const struct jfr_pools *pools,
		     const struct profile_process *proc)
{
	jfr_put_varint(out, proc->pid);
	jfr_put_varint(out, proc->exec_count);
	jfr_put_varint(out, proc->start_ns);
	jfr_put_varint(out, jfr_string_key(pools, proc->name));
	jfr_put_varint(out, jfr_string_key(pools, proc->exe));
	jfr_put_varint(out, jfr_string_key(pools, proc->container_id));
	jfr_put_varint(out, jfr_string_key(pools, proc->cgroup));
	jfr_put_varint(out, jfr_string_key(pools, proc->jvm_version));
	jfr_put_varint(out, jfr_string_key(pools, proc->main_class));
	jfr_put_varint(out, jfr_string_key(pools, proc->container_name));
	jfr_put_varint(out, jfr_string_key(pools, proc->container_image));
}

static void put_process(struct strbuf *out, const struct source *from, uint32_t id)
{
	jfr_put_varint(out, jfr_key(from->pools, id));
	jfr_put_process(out, from->pools, profile_get_process(from->p, id));
}

void jfr_put_event_kind(struct strbuf *out, const struct jfr_pools *pools,
			const struct profile_event *event)
{
	jfr_put_varint(out, jfr_string_key(pools, event->name));
	jfr_put_varint(out, jfr_string_key(pools, event->unit));
	jfr_put_varint(out, event->period);
}

static void put_event_kind(struct strbuf *out, const struct source *from, uint32_t id)
{
	jfr_put_varint(out, jfr_key(from->pools, id));
	jfr_put_event_kind(out, from->pools, profile_get_event(from->p, id));
}

static void put_name(struct strbuf *out, const struct jfr_pools *pools, uint32_t string)
{
	size_t len;
	const char *text = intern_get(&pools->symbols, pools->string_symbols.items[string], &len);

	jfr_put_utf8(out, text, len);
}

static void put_thread(struct strbuf *out, const struct source *from, uint32_t id)
{
	const struct profile_thread *t = profile_get_thread(from->p, id);

	jfr_put_varint(out, jfr_thread_key(from->pools, id));
	put_name(out, from->pools, t->name);
	jfr_put_varint(out, t->tid);
	if (t->java_tid)
		put_name(out, from->pools, t->name);
	else
		jfr_put_byte(out, JFR_STRING_NULL);
	jfr_put_varint(out, t->java_tid);
	jfr_put_varint(out, 0); /* group */
	jfr_put_byte(out, (uint8_t)t->is_virtual);
	jfr_put_varint(out, jfr_key(from->pools, t->process));
}

static void put_location(struct strbuf *out, const struct source *from, uint32_t id)
{
	const struct profile_frame *f = profile_get_frame(from->p, id);

	jfr_put_varint(out, jfr_key(from->pools, id));
	jfr_put_varint(out, jfr_string_key(from->pools, f->name));
	jfr_put_varint(out, jfr_string_key(from->pools, f->class_name));
	jfr_put_varint(out, jfr_string_key(from->pools, f->file));
	jfr_put_varint(out, jfr_key(from->pools, f->mapping));
	jfr_put_varint(out, f->address);
	jfr_put_int(out, f->line);
	jfr_put_int(out, f->bci);
	jfr_put_varint(out, f->kind + 1);
	jfr_put_varint(out, f->into);
	jfr_put_varint(out, jfr_string_key(from->pools, f->descriptor));
}

static uint8_t *put_frame(uint8_t *at, const struct source *from, uint32_t id)
{
	const struct profile_frame *f = profile_get_frame(from->p, id);

	at = jfr_varint(at, jfr_key(from->pools, from->pools->frame_methods.items[id]));
	at = jfr_varint(at, f->line > 0 ? (uint32_t)f->line : 0);
	at = jfr_varint(at, f->bci > 0 ? (uint32_t)f->bci : 0);
	*at++ = frame_type_keys[f->kind];
	return jfr_varint(at, jfr_key(from->pools, id));
}

static void put_stack(struct strbuf *out, const struct source *from, uint32_t id)
{
	struct profile_stack stack = profile_get_stack(from->p, id);
	uint32_t code = jfr_class_frame(from->p, id) != PROFILE_NONE;
	uint8_t *at;

	jfr_put_varint(out, jfr_key(from->pools, id));
	jfr_put_byte(out, 0); /* truncated: such stacks end with a mark */
	jfr_put_varint(out, stack.len - code);
	strbuf_grow(out, (size_t)stack.len * 5 * 9);
	at = (uint8_t *)out->buf + out->len;
	for (uint32_t i = code; i < stack.len; i++)
		at = put_frame(at, from, stack.frames[i]);
	out->len = (size_t)((char *)at - out->buf);
}

/*
 * Stacks come last: a reader that goes by our order finds everything they refer to before them,
 * and need not look through them to find the end of their pool.
 */
static const struct pool {
	enum jfr_type_id type;
	void (*put)(struct strbuf *out, const struct source *from, uint32_t id);
} pool_table[JFR_POOL_COUNT] = {
	{ JFR_FRAME_TYPE, put_frame_type }, { JFR_THREAD_STATE, put_state },
	{ JFR_FRAME_KIND, put_frame_kind }, { JFR_SYMBOL, put_symbol },
	{ JFR_CLASS, put_class },	    { JFR_METHOD, put_method },
	{ JFR_EVENT_KIND, put_event_kind }, { JFR_MAPPING, put_mapping },
	{ JFR_PROCESS, put_process },	    { JFR_THREAD, put_thread },
	{ JFR_LOCATION, put_location },	    { JFR_STACK_TRACE, put_stack },
};

static void count_entries(const struct source *from, uint32_t ret_len[JFR_POOL_COUNT])
{
	const uint32_t len[JFR_POOL_COUNT] = {
		ARRAY_SIZE(frame_types),
		ARRAY_SIZE(states),
		FRAME_KIND_COUNT,
		intern_len(&from->pools->symbols),
		intern_len(&from->pools->classes),
		intern_len(&from->pools->methods),
		intern_len(&from->p->events),
		intern_len(&from->p->mappings),
		intern_len(&from->p->processes),
		intern_len(&from->p->threads),
		intern_len(&from->p->frames),
		intern_len(&from->p->stacks),
	};

	memcpy(ret_len, len, sizeof(len));
}

void jfr_put_checkpoint(struct strbuf *out, struct jfr_pools *pools, const struct profile *p,
			uint64_t time_ns, int64_t delta)
{
	const struct source from = { pools, p };
	size_t event = jfr_begin_event(out, JFR_CHECKPOINT);
	uint32_t len[JFR_POOL_COUNT], used = 0;

	count_entries(&from, len);
	for (int i = 0; i < JFR_POOL_COUNT; i++)
		used += len[i] > pools->done[i];
	jfr_put_varint(out, time_ns);
	jfr_put_varint(out, 0);
	jfr_put_varint(out, (uint64_t)delta);
	jfr_put_byte(out, FLUSH_MASK);
	jfr_put_varint(out, used);
	for (int i = 0; i < JFR_POOL_COUNT; i++) {
		if (len[i] <= pools->done[i])
			continue;
		jfr_put_varint(out, pool_table[i].type);
		jfr_put_varint(out, len[i] - pools->done[i]);
		for (uint32_t id = pools->done[i]; id < len[i]; id++)
			pool_table[i].put(out, &from, id);
		pools->done[i] = len[i];
	}
	jfr_end_event(out, event);
}
