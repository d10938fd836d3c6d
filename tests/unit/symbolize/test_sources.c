// SPDX-License-Identifier: Apache-2.0
/* What each source of symbols answers by itself: frames, and how sure it is of them. */
#include "symbolize_parts.h"

#include "symbolize/symbolizer_private.h"

#define CODE_AT 0x7000

/* One question, with the state that a stack on its way has. */
struct question {
	struct process_cache cache;
	struct stack_build build;
	struct symbol_query query;
	struct answer *answer;
};

static void begin(struct fixture *f, struct question *q, unsigned int kind, uint64_t address,
		  const uint64_t *words)
{
	memset(q, 0, sizeof(*q));
	lru_init(&q->cache.images, 64 * LRU_ENTRY_BYTES, NULL, NULL);
	q->cache.has_code_map = parts.jvm.has_code_map;
	q->build = (struct stack_build){ .symbolizer = f->symbolizer,
					 .profile = &f->profile,
					 .process = &f->process,
					 .cache = &q->cache,
					 .jvm = jvm_of(f),
					 .time_ns = 77,
					 .may_wait = true };
	q->query = (struct symbol_query){ .kind = kind, .address = address, .words = words };
	q->answer = &f->symbolizer->answer;
}

static void end(struct question *q)
{
	lru_clear(&q->cache.images);
	perf_map_free(q->cache.perf_map);
}

/* Asks the source of this name alone; the frames as stack() has them. */
static const char *ask(struct fixture *f, struct question *q, const char *name)
{
	const struct symbol_source *source = symbol_sources;

	while (strcmp(source->name, name) != 0)
		assert_non_null((++source)->name);
	assert_true(source->kinds & q->query.kind);
	memset(q->answer, 0, sizeof(*q->answer));
	source->find(&q->build, &q->query, q->answer);
	strbuf_reset(&f->text);
	strbuf_addf(&f->text, "%s", "");
	for (unsigned int i = 0; i < q->answer->count; i++)
		add_frame(f, &q->answer->frames[i]);
	return strbuf_str(&f->text);
}

#define ASSERT_ANSWER(f, q, name, text, how_sure, moment)         \
	do {                                                      \
		assert_string_equal(ask((f), (q), (name)), text); \
		assert_int_equal((q)->answer->sure, how_sure);    \
		assert_int_equal((q)->answer->of_moment, moment); \
	} while (0)

static void the_kernel(void **state)
{
	struct fixture *f = *state;
	struct question q;

	begin(f, &q, ASK_KERNEL, KERNEL + 0x100, NULL);
	ASSERT_ANSWER(f, &q, "kernel", "k1+ffffffff81000100_k@[kernel]", ANSWER_RANGE, false);
	end(&q);
}

static void the_kernel_hides_its_symbols(void **state)
{
	struct fixture *f = *state;
	struct question q;

	parts.kernel = -EPERM;
	begin(f, &q, ASK_KERNEL, KERNEL + 0x100, NULL);
	ASSERT_ANSWER(f, &q, "kernel", "+ffffffff81000100_k@[kernel]", ANSWER_PLACE, false);
	end(&q);
}

/* What was compiled into one place, with bci and line of each, and what it was compiled by. */
static void an_agents_code_map(void **state)
{
	static const uint64_t words[] = { CODE_AT, 5 };
	struct fixture *f = *state;
	struct question q;

	parts.is_jvm = true;
	parts.jvm = (struct jvm){ .code_start = 0x6000,
				  .code_end = 0x8000,
				  .has_code_map = true,
				  .of_code = JAVA_FRAMES,
				  .inlined = 2 };
	for (unsigned int i = 0; i < 2; i++) {
		begin(f, &q, i ? ASK_CODE : ASK_COMPILED, CODE_AT, words);
		parts.jvm.of_code = JAVA_FRAMES;
		ASSERT_ANSWER(f, &q, "code map", "p.C.m:7_i@[JIT] p.C.m:7_i@[JIT] p.C.m:70_j@[JIT]",
			      ANSWER_TIMED, true);
		assert_int_equal(q.answer->frames[0].bci, 3);
		assert_int_equal(q.answer->frames[2].bci, 30);
		assert_int_equal(parts.jvm.asked_ns, 77);
		parts.jvm.of_code = JAVA_STUB;
		ASSERT_ANSWER(f, &q, "code map", "stub_s@[JIT]", ANSWER_TIMED, true);
		parts.jvm.of_code = JAVA_EVICTED;
		ASSERT_ANSWER(f, &q, "code map", "", ANSWER_EVICTED, true);
		end(&q);
	}
	/* Of a compiled method another may know more; a mere address has its place. */
	parts.jvm.of_code = JAVA_UNKNOWN;
	end(&q);
	begin(f, &q, ASK_COMPILED, CODE_AT, words);
	ASSERT_ANSWER(f, &q, "code map", "", ANSWER_NONE, true);
	end(&q);
	begin(f, &q, ASK_CODE, CODE_AT, words);
	ASSERT_ANSWER(f, &q, "code map", "[JIT]_j@[JIT]", ANSWER_PLACE, true);
	/* Other code of the process is no business of its. */
	end(&q);
	begin(f, &q, ASK_CODE, 0x9000, words);
	ASSERT_ANSWER(f, &q, "code map", "", ANSWER_NONE, false);
	parts.is_jvm = false;
	end(&q);
	begin(f, &q, ASK_CODE, CODE_AT, words);
	ASSERT_ANSWER(f, &q, "code map", "", ANSWER_NONE, false);
	end(&q);
}

/* As many as there is room for. */
static void deep_inlining(void **state)
{
	struct fixture *f = *state;
	struct question q;

	parts.is_jvm = true;
	parts.jvm = (struct jvm){ .code_start = 0x6000,
				  .code_end = 0x8000,
				  .of_code = JAVA_FRAMES,
				  .inlined = JAVA_MAX_INLINE - 1 };
	begin(f, &q, ASK_CODE, CODE_AT, NULL);
	ask(f, &q, "code map");
	assert_int_equal(q.answer->count, ANSWER_MAX_FRAMES);
	assert_int_equal(q.answer->frames[ANSWER_MAX_FRAMES - 1].kind, FRAME_JAVA_JIT);
	for (unsigned int i = 0; i < ANSWER_MAX_FRAMES; i++)
		answer_add(q.answer, &q.answer->frames[0]);
	assert_int_equal(q.answer->count, ANSWER_MAX_FRAMES);
	end(&q);
}

static void compiled_methods_from_outside(void **state)
{
	static const uint64_t words[] = { CODE_AT, 5 };
	struct fixture *f = *state;
	struct question q;

	parts.is_jvm = true;
	parts.jvm.of_compiled = JAVA_FRAMES;
	begin(f, &q, ASK_COMPILED, CODE_AT, words);
	ASSERT_ANSWER(f, &q, "compiled", "p.C.m:70_j@[JIT]", ANSWER_PROVEN, false);
	parts.jvm.of_compiled = JAVA_STUB;
	ASSERT_ANSWER(f, &q, "compiled", "blob_s@[JIT]", ANSWER_PROVEN, false);
	parts.jvm.of_compiled = JAVA_EVICTED;
	ASSERT_ANSWER(f, &q, "compiled", "", ANSWER_EVICTED, false);
	parts.jvm.of_compiled = JAVA_UNKNOWN;
	ASSERT_ANSWER(f, &q, "compiled", "", ANSWER_NONE, false);
	q.build.jvm = NULL;
	ASSERT_ANSWER(f, &q, "compiled", "", ANSWER_NONE, false);
	end(&q);
}

/* Without the identity of its class it is what lies there now. */
static void interpreted_methods(void **state)
{
	uint64_t words[WIRE_INTERPRETED_WORDS] = { CODE_AT, 2, 3, 4, 99 };
	struct fixture *f = *state;
	struct question q;

	parts.is_jvm = true;
	parts.jvm.of_interpreted = JAVA_FRAMES;
	begin(f, &q, ASK_INTERPRETED, CODE_AT, words);
	ASSERT_ANSWER(f, &q, "interpreted", "p.C.m:70_0@[JIT]", ANSWER_PROVEN, false);
	assert_int_equal(q.answer->frames[0].bci, 30);
	words[4] = 0;
	ASSERT_ANSWER(f, &q, "interpreted", "p.C.m:70_0@[JIT]", ANSWER_RANGE, true);
	parts.jvm.of_interpreted = JAVA_EVICTED;
	ASSERT_ANSWER(f, &q, "interpreted", "", ANSWER_EVICTED, true);
	q.build.jvm = NULL;
	ASSERT_ANSWER(f, &q, "interpreted", "", ANSWER_NONE, true);
	end(&q);
}

static void files(void **state)
{
	struct fixture *f = *state;
	struct question q;

	map_file(f, MAPPED, 1, 0x2000, "/bin/a");
	begin(f, &q, ASK_CODE, MAPPED + 0x100, NULL);
	ASSERT_ANSWER(f, &q, "file", "f31+3100_n@/bin/a", ANSWER_RANGE, false);
	parts.images[1].cpp = true;
	ASSERT_ANSWER(f, &q, "file", "f31+3100_c@/bin/a", ANSWER_RANGE, false);
	/* It was looked for where it is mapped, once. */
	assert_int_equal(parts.images[1].opens, 1);
	end(&q);
	begin(f, &q, ASK_CODE, MAPPED + 0xf000, NULL); /* behind its last symbol */
	ASSERT_ANSWER(f, &q, "file", "+12000_n@/bin/a", ANSWER_PLACE, false);
	end(&q);
	begin(f, &q, ASK_CODE, 5 * MAPPED, NULL);
	ASSERT_ANSWER(f, &q, "file", "", ANSWER_NONE, false);
	end(&q);
}

static void files_that_are_not_parsed(void **state)
{
	struct fixture *f = *state;
	struct question q;

	parts.images[1].state = IMAGE_LOADING;
	map_file(f, MAPPED, 1, 0x2000, "/bin/a");
	begin(f, &q, ASK_CODE, MAPPED + 0x100, NULL);
	ASSERT_ANSWER(f, &q, "file", "", ANSWER_WAIT, false);
	q.build.may_wait = false;
	ASSERT_ANSWER(f, &q, "file", "+2100_n@/bin/a", ANSWER_PLACE, true);
	/* Never: then it is that for good. */
	parts.images[1].state = IMAGE_FAILED;
	q.build.may_wait = true;
	ASSERT_ANSWER(f, &q, "file", "+2100_n@/bin/a", ANSWER_PLACE, false);
	end(&q);
}

static void another_runtimes_perf_map(void **state)
{
	struct fixture *f = *state;
	struct question q;

	map_file(f, MAPPED, 0, 0, "");
	parts.perf_map = "LazyCompile:~f";
	begin(f, &q, ASK_CODE, MAPPED + 0x100, NULL);
	ASSERT_ANSWER(f, &q, "perf map", "LazyCompile:~f_o@[JIT]", ANSWER_RANGE, true);
	q.query.address = MAPPED + 0x900; /* not in it, yet */
	ASSERT_ANSWER(f, &q, "perf map", "", ANSWER_NONE, true);
	end(&q);
	begin(f, &q, ASK_CODE, 5 * MAPPED, NULL);
	ASSERT_ANSWER(f, &q, "perf map", "", ANSWER_NONE, false);
	end(&q);
}

static void memory(void **state)
{
	struct fixture *f = *state;
	struct question q;

	map_file(f, MAPPED, 0, 0, "[heap]");
	map_file(f, 2 * MAPPED, 0, 0, "");
	begin(f, &q, ASK_CODE, MAPPED + 0x100, NULL);
	ASSERT_ANSWER(f, &q, "memory", "[heap]_n@[heap]", ANSWER_PLACE, true);
	end(&q);
	begin(f, &q, ASK_CODE, 2 * MAPPED, NULL);
	ASSERT_ANSWER(f, &q, "memory", "[anon]_n@[anon]", ANSWER_PLACE, true);
	end(&q);
	begin(f, &q, ASK_CODE, 5 * MAPPED, NULL);
	ASSERT_ANSWER(f, &q, "memory", "[unknown]_n", ANSWER_PLACE, false);
	end(&q);
}

static void addresses_of_a_process_that_is_not_known(void **state)
{
	struct fixture *f = *state;
	struct question q;

	begin(f, &q, ASK_CODE, 0x1234, NULL);
	ASSERT_ANSWER(f, &q, "address", "", ANSWER_NONE, false);
	q.build.is_raw = true;
	ASSERT_ANSWER(f, &q, "address", "+1234_n", ANSWER_PLACE, true);
	end(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_kernel),
		TEST(the_kernel_hides_its_symbols),
		TEST(an_agents_code_map),
		TEST(deep_inlining),
		TEST(compiled_methods_from_outside),
		TEST(interpreted_methods),
		TEST(files),
		TEST(files_that_are_not_parsed),
		TEST(another_runtimes_perf_map),
		TEST(memory),
		TEST(addresses_of_a_process_that_is_not_known),
	};

	return cmocka_run_group_tests_name("sources", tests, NULL, NULL);
}
