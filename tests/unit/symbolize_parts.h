/* SPDX-License-Identifier: Apache-2.0 */
/* A symbolizer over sources that the test makes up. Included once per test. */
#ifndef HOSTPROF_TESTS_SYMBOLIZE_PARTS_H
#define HOSTPROF_TESTS_SYMBOLIZE_PARTS_H

#include "symbolize/symbolizer.h"
#include "symbolize_sources.h"

#define PID    5000001U
#define MAPPED 0x10000000ULL
#define MODULE 0xffffffff90000000ULL
#define EXACT  WIRE_FRAME_EXACT
#define CACHE  ((struct image_cache *)0x1000) /* never looked into */
#define JVMS   ((struct jvm_table *)0x2000)   /* the same */

#define KIND(kind) ((uint64_t)WIRE_FRAME_##kind << WIRE_FRAME_KIND_SHIFT)

struct fixture {
	struct symbolizer *symbolizer;
	struct profile profile;
	struct process process;
	struct strbuf text;

	union {
		struct wire_sample sample;
		char space[sizeof(struct wire_sample) + 32 * sizeof(uint64_t)];
	};
};

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	fake_begin();
	memset(&parts, 0, sizeof(parts));
	for (size_t i = 0; i < ARRAY_SIZE(parts.images); i++)
		parts.images[i] = (struct image){
			.state = IMAGE_READY, .start = 0x1000, .limit = 0x9000, .bias = 0x1000
		};
	profile_init(&f->profile);
	f->process = (struct process){ .pid = PID, .serial = 1 };
	f->symbolizer = symbolizer_new(CACHE, JVMS);
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	symbolizer_free(f->symbolizer);
	profile_release(&f->profile);
	mappings_clear(&f->process);
	strbuf_release(&f->text);
	free(f);
	return 0;
}

static inline void map_file(struct fixture *f, uint64_t at, uint64_t inode, uint64_t pgoff,
			    const char *path)
{
	_cleanup_free_ char *copy = xstrdup(path);
	const struct mapping m = { .start = at,
				   .end = at + 0x10000,
				   .pgoff = pgoff,
				   .key = { .inode = inode },
				   .path = copy };

	mappings_add(&f->process, &m);
}

/* The words of a sample, kernel and then user, up to the first 0. */
static inline void set_words(struct fixture *f, const uint64_t kernel[4], const uint64_t user[12])
{
	struct wire_sample *sample = &f->sample;
	uint64_t *at = sample->words;

	*sample = (struct wire_sample){ .kind = WIRE_SAMPLE, .tgid = PID, .tid = PID };
	for (int i = 0; i < 4 && kernel[i]; i++, sample->kernel_frames++)
		*at++ = kernel[i];
	for (int i = 0; i < 12 && user[i]; i++, sample->user_words++)
		*at++ = user[i];
	sample->time_ns = clock_now_ns();
	sample->size = (uint32_t)((char *)at - (char *)sample);
}

static inline void add_frame(struct fixture *f, const struct profile_frame *frame)
{
	static const char kinds[] = "nck01jisopqmgvt";
	const struct profile *p = &f->profile;

	if (f->text.len)
		strbuf_addch(&f->text, ' ');
	if (frame->class_name)
		strbuf_addf(&f->text, "%s.", profile_get_string(p, frame->class_name));
	strbuf_addf(&f->text, "%s", profile_get_string(p, frame->name));
	if (frame->address)
		strbuf_addf(&f->text, "+%" PRIx64, (uint64_t)frame->address);
	if (frame->into)
		strbuf_addf(&f->text, "-%x", frame->into);
	if (frame->line)
		strbuf_addf(&f->text, ":%d", frame->line);
	/* Only a Java method has bytecodes. */
	assert_int_equal(frame->bci, frame->file && !frame->class_name ? -1
				     : frame->line == 7		       ? 3
				     : frame->line		       ? 30
								       : -1);
	strbuf_addf(&f->text, "_%c", kinds[frame->kind]);
	if (frame->mapping != PROFILE_NONE)
		strbuf_addf(&f->text, "@%s",
			    profile_get_string(p, profile_get_mapping(p, frame->mapping)->path));
}

struct jvm *jvm_table_get(struct jvm_table *table, struct process *process)
{
	assert_ptr_equal(table, JVMS);
	assert_non_null(process);
	return parts.is_jvm ? &parts.jvm : NULL;
}

const char *jvm_thread_name(struct jvm *jvm, uint32_t tid, uint64_t time_ns, uint64_t *ret_java_tid)
{
	(void)tid, (void)time_ns, (void)ret_java_tid;
	assert_ptr_equal(jvm, &parts.jvm);
	return NULL;
}

static inline struct jvm *jvm_of(struct fixture *f)
{
	(void)f;
	return parts.is_jvm ? &parts.jvm : NULL;
}

static inline uint32_t stack_id(struct fixture *f)
{
	return symbolizer_take(f->symbolizer, &f->profile, &f->process, &f->sample).stack;
}

/* Is all there that it needs? */
static inline bool is_ready(struct fixture *f)
{
	struct symbolized symbolized;

	return symbolizer_try(f->symbolizer, &f->profile, &f->process, &f->sample, &symbolized);
}

static inline bool arrive(struct fixture *f)
{
	return symbolizer_arrive(f->symbolizer, &f->process, &f->sample);
}

/* The stack, leaf first: "name+address:line_kind@file". */
static inline const char *stack(struct fixture *f)
{
	struct profile_stack stack;

	strbuf_reset(&f->text);
	stack = profile_get_stack(&f->profile, stack_id(f));
	for (uint32_t i = 0; i < stack.len; i++)
		add_frame(f, profile_get_frame(&f->profile, stack.frames[i]));
	return strbuf_str(&f->text);
}

#define KERNEL_WORDS(...) ((const uint64_t[4]){ __VA_ARGS__ })
#define USER_WORDS(...)	  ((const uint64_t[12]){ __VA_ARGS__ })
#define NO_KERNEL	  KERNEL_WORDS(0)
#define NO_USER		  USER_WORDS(0)

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif
