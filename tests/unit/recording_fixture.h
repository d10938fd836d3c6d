/* SPDX-License-Identifier: Apache-2.0 */
/* A small profile that has one of everything, and profiles as text, to compare them. */
#ifndef HOSTPROF_TESTS_RECORDING_FIXTURE_H
#define HOSTPROF_TESTS_RECORDING_FIXTURE_H

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "profile/profile.h"

#define FIXTURE_START_NS      (5000 * NSEC_PER_SEC)
#define FIXTURE_START_WALL_NS 1795000000000000000ULL
#define FIXTURE_SAMPLES	      24

/* One frame of every kind, and some that lack this or that. */
static inline uint32_t fixture_frames(struct profile *p, uint32_t *ret_frames)
{
	struct profile_mapping libc = { .path = profile_string(p, "/usr/lib/libc.so.6"),
					.build_id = profile_string(p, "0123abcd"),
					.start = 0x26000,
					.limit = 0x17c000,
					.offset = 0x26000 };
	struct profile_mapping vdso = { .path = profile_string(p, "[vdso]") };
	const struct profile_frame frames[] = {
		{ profile_string(p, "__x64_sys_read"), 0, 0, PROFILE_NONE, 0xffffffff8112ab34, 0,
		  -1, FRAME_KERNEL, 0, 0, 0 },
		{ profile_string(p, "read"), 0, profile_string(p, "read.c"),
		  profile_mapping(p, &libc), 0x27123, 26, -1, FRAME_NATIVE, 0, 0, 0 },
		{ 0, 0, 0, profile_mapping(p, &libc), 0x28476, 0, -1, FRAME_NATIVE, 0x20, 0, 0 },
		{ 0, 0, 0, profile_mapping(p, &vdso), 0x9d0, 0, -1, FRAME_NATIVE, 0, 0, 0 },
		{ profile_string(p, "std::vector<int>::push_back(int)"), 0, 0, PROFILE_NONE, 0x1000,
		  0, -1, FRAME_CPP, 0, 0, 0 },
		{ profile_string(p, "get"), profile_string(p, "java.util.HashMap"),
		  profile_string(p, "HashMap.java"), PROFILE_NONE, 0, 557, 7, FRAME_JAVA_INLINED, 0,
		  profile_string(p, "(Ljava/lang/Object;)Ljava/lang/Object;"), 0 },
		{ profile_string(p, "lookup"), profile_string(p, "com.acme.Order$1"), 0,
		  PROFILE_NONE, 0, 12, 0, FRAME_JAVA_JIT, 0, profile_string(p, "([B)V"), 0 },
		{ profile_string(p, "lambda$0"), profile_string(p, "com.acme.L$$Lambda/0x7f01"), 0,
		  PROFILE_NONE, 0, 0, -1, FRAME_JAVA_C1, 0, 0, 0 },
		{ profile_string(p, "run"), profile_string(p, "java.lang.Thread"), 0, PROFILE_NONE,
		  0, 833, 11, FRAME_JAVA_INTERPRETED, 0, 0, 0 },
		{ profile_string(p, "call_stub"), 0, 0, PROFILE_NONE, 0x7f0011223344, 0, -1,
		  FRAME_STUB, 0, 0, 0 },
		{ profile_string(p, "LazyCompile:~f a.js:1"), 0, 0, PROFILE_NONE, 0x7f00, 0, -1,
		  FRAME_JIT_OTHER, 0, 0, 0 },
		{ 0, profile_string(p, "byte[]"), 0, PROFILE_NONE, 0, 0, -1, FRAME_CLASS, 0, 0, 0 },
		{ profile_string(p, "[unwind: budget]"), 0, 0, PROFILE_NONE, 0, 0, -1, FRAME_MARK,
		  0, 0, 0 },
		{ 0, 0, 0, PROFILE_NONE, 0xdead, -5, -1, FRAME_NATIVE, 0, 0, 0 },
		{ profile_string(p, "[JIT]"), 0, 0, PROFILE_NONE, 0, 0, -1, FRAME_JAVA_JIT, 0, 0,
		  0 },
	};

	for (uint32_t i = 0; i < ARRAY_SIZE(frames); i++)
		ret_frames[i] = profile_frame(p, &frames[i]);
	return ARRAY_SIZE(frames);
}

static inline void fixture_threads(struct profile *p, uint32_t ret_threads[3])
{
	struct profile_process java = { 4242,
					1,
					123456789,
					profile_string(p, "java"),
					profile_string(p, "/usr/lib/jvm/bin/java"),
					profile_string(p, "deadbeefdeadbeef"),
					profile_string(p, "/system.slice/acme.service"),
					profile_string(p, "25.0.3+9"),
					profile_string(p, "com.acme.Main"),
					profile_string(p, "shop"),
					profile_string(p, "acme/shop:3") };
	struct profile_process kernel = { .name = profile_string(p, "swapper") };
	uint32_t java_id = profile_process(p, &java);
	const struct profile_thread threads[3] = {
		{ java_id, 4243, profile_string(p, "http-nio-8080-exec-\xc3\xa9"), 31, 0 },
		{ java_id, 4244, profile_string(p, "GC Thread#0"), 0, 0 },
		{ profile_process(p, &kernel), 0, 0, 0, 0 },
	};

	for (int i = 0; i < 3; i++)
		ret_threads[i] = profile_thread(p, &threads[i]);
}

static inline void fixture_head(struct profile *p)
{
	p->start_ns = FIXTURE_START_NS;
	p->start_wall_ns = FIXTURE_START_WALL_NS;
	p->host = profile_string(p, "build-7");
	p->command = profile_string(p, "hostprof record -a -d 10s");
}

/* A stack that allocates, of a class that is not, is, or is a hidden one. */
static inline uint32_t fixture_allocation(struct profile *p, const uint32_t *code, uint32_t len,
					  unsigned int i)
{
	static const char *const classes[] = { "byte[]", "java.lang.String[][]",
					       "com.acme.L$$Lambda/0x7f02" };
	const struct profile_frame class = { .class_name = profile_string(p, classes[i % 3]),
					     .mapping = PROFILE_NONE,
					     .bci = -1,
					     .kind = i % 2 ? FRAME_CLASS : FRAME_CLASS_OUTSIDE };
	uint32_t frames[33] = { profile_frame(p, &class) };

	for (uint32_t k = 0; k < len; k++)
		frames[k + 1] = code[k];
	return profile_stack(p, frames, len + 1);
}

/* FIXTURE_SAMPLES samples, from the FIRST on: of four events, all states, with an empty stack. */
static inline void fixture_add(struct profile *p, unsigned int first)
{
	struct profile_event events[4] = {
		{ profile_string(p, "cpu"), profile_string(p, "nanoseconds"), 10101010 },
		{ profile_string(p, "alloc"), profile_string(p, "bytes"), 0 },
		{ profile_string(p, "cycles"), profile_string(p, "count"), 1000003 },
		{ profile_string(p, "live"), profile_string(p, "bytes"), 0 },
	};
	uint32_t ids[4], frames[32], threads[3], count = fixture_frames(p, frames);

	fixture_head(p);
	fixture_threads(p, threads);
	for (int i = 0; i < 4; i++)
		ids[i] = profile_event(p, &events[i]);
	for (unsigned int i = first; i < first + FIXTURE_SAMPLES; i++) {
		struct profile_sample s = {
			.time_ns = FIXTURE_START_NS + i * NSEC_PER_MSEC,
			.weight = i == first ? UINT64_MAX : 1000 + i,
			.count = 1 + i % 3,
			.event = ids[i % 5 == 4 ? 1 + i / 5 % 3 : 0],
			.stack = profile_stack(p, frames + i % 4, count - i % 4),
			.thread = threads[i % 3],
			.state = i % 4,
		};

		if (i == first + 1)
			s.stack = profile_stack(p, NULL, 0);
		if (s.event != ids[0]) {
			s.objects = 3 * i;
			s.age = i % 7;
			/* An event of another kind may have objects of a class, too. */
			if (i % 4)
				s.stack = fixture_allocation(p, frames, i % 4, i);
		}
		profile_add(p, &s);
	}
	p->duration_ns = (first + FIXTURE_SAMPLES) * NSEC_PER_MSEC;
}

static inline void fixture_add_figures(struct profile *p)
{
	struct profile_quality quality = { 0, 0, 1000, 999, 10101010000, 3, 30303030 };

	profile_add_quality(p, &quality);
	quality.process = 1;
	quality.event = 1;
	profile_add_quality(p, &quality);
	profile_add_counter(p, "unwind.budget", "", 4);
	profile_add_counter(p, "symbols.file-vanished", "/tmp/a b;c", UINT64_MAX);
}

/* --- a profile as lines of text --------------------------------------------------------------- */

struct lines {
	VEC(char *) items;
};

static inline void lines_release(struct lines *lines)
{
	char **line;

	vec_for_each (line, &lines->items)
		free(*line);
	vec_release(&lines->items);
}

static inline void lines_take(struct lines *lines, struct strbuf *sb)
{
	vec_push(&lines->items, strbuf_take(sb));
}

static inline const char *str(const struct profile *p, uint32_t id)
{
	return profile_get_string(p, id);
}

static inline void describe_mapping(struct strbuf *sb, const struct profile *p, uint32_t id)
{
	const struct profile_mapping *m;

	if (id == PROFILE_NONE) {
		strbuf_addstr(sb, "-");
		return;
	}
	m = profile_get_mapping(p, id);
	strbuf_addf(sb, "%s(%s %" PRIx64 " %" PRIx64 " %" PRIx64 ")", str(p, m->path),
		    str(p, m->build_id), m->start, m->limit, m->offset);
}

static inline void describe_frame(struct strbuf *sb, const struct profile *p, uint32_t id)
{
	const struct profile_frame *f = profile_get_frame(p, id);

	strbuf_addf(sb, "<%s|%s|%s|%" PRIx64, str(p, f->name), str(p, f->class_name),
		    str(p, f->file), f->address);
	if (f->into)
		strbuf_addf(sb, "-%x", f->into);
	strbuf_addf(sb, "|%d|%d|%u|", f->line, f->bci, f->kind);
	if (f->descriptor)
		strbuf_addf(sb, "%s|", str(p, f->descriptor));
	describe_mapping(sb, p, f->mapping);
	strbuf_addch(sb, '>');
}

static inline void describe_process(struct strbuf *sb, const struct profile *p, uint32_t id)
{
	const struct profile_process *v = profile_get_process(p, id);

	strbuf_addf(sb, "[%u %u %" PRIu64 " %s %s %s %s %s %s", v->pid, v->exec_count, v->start_ns,
		    str(p, v->name), str(p, v->exe), str(p, v->container_id), str(p, v->cgroup),
		    str(p, v->jvm_version), str(p, v->main_class));
	if (v->container_name || v->container_image)
		strbuf_addf(sb, " %s of %s", str(p, v->container_name), str(p, v->container_image));
	strbuf_addch(sb, ']');
}

static inline void describe_thread(struct strbuf *sb, const struct profile *p, uint32_t id)
{
	const struct profile_thread *t = profile_get_thread(p, id);

	strbuf_addf(sb, "{%u %s %u%s ", t->tid, str(p, t->name), t->java_tid,
		    t->is_virtual ? " virtual" : "");
	describe_process(sb, p, t->process);
	strbuf_addch(sb, '}');
}

static inline void describe_event(struct strbuf *sb, const struct profile *p, uint32_t id)
{
	const struct profile_event *e = profile_get_event(p, id);

	strbuf_addf(sb, "(%s %s %" PRIu64 ")", str(p, e->name), str(p, e->unit), e->period);
}

static inline void describe_sample(struct strbuf *sb, const struct profile *p, size_t index)
{
	const struct profile_sample *s = &p->samples.items[index];
	struct profile_stack stack = profile_get_stack(p, s->stack);

	strbuf_addf(sb, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %u ", s->time_ns, s->weight, s->count,
		    s->state);
	if (s->objects || s->age)
		strbuf_addf(sb, "objects %" PRIu64 " age %u ", s->objects, s->age);
	describe_event(sb, p, s->event);
	describe_thread(sb, p, s->thread);
	for (uint32_t i = 0; i < stack.len; i++)
		describe_frame(sb, p, stack.frames[i]);
}

static inline void describe_table(struct lines *lines, const struct profile *p, uint32_t len,
				  const char *what,
				  void (*describe)(struct strbuf *sb, const struct profile *p,
						   uint32_t id))
{
	for (uint32_t id = 0; id < len; id++) {
		struct strbuf sb = STRBUF_INIT;

		strbuf_addf(&sb, "%s ", what);
		describe(&sb, p, id);
		lines_take(lines, &sb);
	}
}

static inline void describe_figures(struct lines *lines, const struct profile *p)
{
	for (size_t i = 0; i < p->quality.len; i++) {
		const struct profile_quality *q = &p->quality.items[i];
		struct strbuf sb = STRBUF_INIT;

		strbuf_addf(&sb, "quality %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
			    q->samples, q->complete, q->weight, q->lost, q->lost_weight);
		describe_process(&sb, p, q->process);
		describe_event(&sb, p, q->event);
		lines_take(lines, &sb);
	}
	for (size_t i = 0; i < p->counters.len; i++) {
		const struct profile_counter *c = &p->counters.items[i];
		struct strbuf sb = STRBUF_INIT;

		strbuf_addf(&sb, "counter %s %s %" PRIu64, str(p, c->name), str(p, c->detail),
			    c->value);
		lines_take(lines, &sb);
	}
}

static inline void describe_profile(struct lines *lines, const struct profile *p)
{
	struct strbuf head = STRBUF_INIT;

	strbuf_addf(&head, "head %" PRIu64 " %" PRIu64 " %" PRIu64 " %s %s", p->start_ns,
		    p->start_wall_ns, p->duration_ns, str(p, p->host), str(p, p->command));
	lines_take(lines, &head);
	describe_table(lines, p, intern_len(&p->mappings), "mapping", describe_mapping);
	describe_table(lines, p, intern_len(&p->frames), "frame", describe_frame);
	describe_table(lines, p, intern_len(&p->processes), "process", describe_process);
	describe_table(lines, p, intern_len(&p->threads), "thread", describe_thread);
	describe_table(lines, p, intern_len(&p->events), "event", describe_event);
	for (size_t i = 0; i < p->samples.len; i++) {
		struct strbuf sb = STRBUF_INIT;

		describe_sample(&sb, p, i);
		lines_take(lines, &sb);
	}
	describe_figures(lines, p);
}

#endif
