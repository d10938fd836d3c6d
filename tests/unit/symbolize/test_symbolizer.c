// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <search.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/clock.h"
#include "jvm/jvm.h"
#include "symbolize/kernel.h"
#include "symbolize/symbolizer.h"

#define MAX_WORDS 64

struct fixture {
	struct worker_pool *pool;
	struct image_cache *images;
	struct registry *registry;
	struct symbolizer *symbolizer;
	struct jvm_table *jvms;
	struct profile profile;
	struct process *self;

	union {
		struct wire_sample sample;
		char space[sizeof(struct wire_sample) + MAX_WORDS * 8];
	};
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct err err;

	*state = f;
	profile_init(&f->profile);
	if (worker_pool_new(1, &f->pool, &err) < 0)
		return -1;
	f->images = image_cache_new(f->pool);
	f->registry = registry_new();
	f->jvms = jvm_table_new();
	f->symbolizer = symbolizer_new(f->images, f->jvms);
	f->self = registry_get(f->registry, (uint32_t)getpid(), clock_now_ns());
	f->sample.size = sizeof(struct wire_sample);
	f->sample.kind = WIRE_SAMPLE;
	f->sample.reason = UNWIND_DONE;
	f->sample.tgid = f->sample.tid = (uint32_t)getpid();
	f->sample.time_ns = clock_now_ns();
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	symbolizer_free(f->symbolizer);
	jvm_table_free(f->jvms);
	registry_free(f->registry);
	image_cache_free(f->images);
	worker_pool_free(f->pool);
	profile_release(&f->profile);
	free(f);
	return 0;
}

/* --- frames of this program: known functions, and what they call --- */

static __attribute__((noinline)) int sym_leaf(int x)
{
	__asm__ volatile("");
	return x * 3;
}

/* The call is the last instruction: its return address belongs to the next function. */
__asm__(".text\n"
	".type sym_noreturn_caller, @function\n"
	"sym_noreturn_caller:\n"
	"	nop\n"
	"	call abort\n"
	".size sym_noreturn_caller, .-sym_noreturn_caller\n"
	".type sym_next, @function\n"
	"sym_next:\n"
	"	ret\n"
	".size sym_next, .-sym_next\n");
extern char sym_noreturn_caller[], sym_next[];

static void add_word(struct fixture *f, uint64_t word, bool kernel)
{
	f->sample.words[(f->sample.size - sizeof(struct wire_sample)) / 8] = word;
	f->sample.size += 8;
	if (kernel)
		f->sample.kernel_frames++;
	else
		f->sample.user_words++;
}

static void add_exact(struct fixture *f, uintptr_t address)
{
	add_word(f, (address & WIRE_FRAME_ADDRESS_MASK) | WIRE_FRAME_EXACT, false);
}

static void add_return(struct fixture *f, uintptr_t address)
{
	add_word(f, address & WIRE_FRAME_ADDRESS_MASK, false);
}

static struct profile_stack make_stack(struct fixture *f)
{
	struct symbolized symbolized;

	for (int i = 0;
	     !symbolizer_try(f->symbolizer, &f->profile, f->self, &f->sample, &symbolized); i++) {
		assert_true(i < 3);
		worker_pool_drain(f->pool);
	}
	return profile_get_stack(&f->profile, symbolized.stack);
}

static uint32_t stack_id(struct fixture *f)
{
	return symbolizer_take(f->symbolizer, &f->profile, f->self, &f->sample).stack;
}

static const struct profile_frame *frame_at(struct fixture *f, struct profile_stack stack,
					    uint32_t i)
{
	assert_true(i < stack.len);
	return profile_get_frame(&f->profile, stack.frames[i]);
}

static const char *name_at(struct fixture *f, struct profile_stack stack, uint32_t i)
{
	return profile_get_string(&f->profile, frame_at(f, stack, i)->name);
}

static const char *mapping_at(struct fixture *f, struct profile_stack stack, uint32_t i)
{
	const struct profile_frame *frame = frame_at(f, stack, i);

	assert_int_not_equal(frame->mapping, PROFILE_NONE);
	return profile_get_string(&f->profile,
				  profile_get_mapping(&f->profile, frame->mapping)->path);
}

static void own_functions_and_libc(void **state)
{
	struct fixture *f = *state;
	struct profile_stack stack;
	const struct profile_mapping *mapping;

	assert_int_equal(sym_leaf(2), 6);
	add_exact(f, (uintptr_t)sym_leaf);
	add_return(f, (uintptr_t)own_functions_and_libc + 5);
	add_return(f, (uintptr_t)hsearch_r + 4);
	stack = make_stack(f);
	assert_int_equal(stack.len, 3);
	assert_string_equal(name_at(f, stack, 0), "sym_leaf");
	assert_string_equal(name_at(f, stack, 1), "own_functions_and_libc");
	assert_string_equal(name_at(f, stack, 2), "hsearch_r");
	assert_int_equal(frame_at(f, stack, 0)->kind, FRAME_NATIVE);
	assert_int_equal(frame_at(f, stack, 0)->line, 0);
	assert_non_null(strstr(mapping_at(f, stack, 0), "/test_symbolizer"));
	assert_non_null(strstr(mapping_at(f, stack, 2), "libc"));
	mapping = profile_get_mapping(&f->profile, frame_at(f, stack, 2)->mapping);
	assert_int_equal(strlen(profile_get_string(&f->profile, mapping->build_id)), 40);
	assert_true(mapping->start < mapping->limit);
	assert_in_range(frame_at(f, stack, 2)->address, mapping->start, mapping->limit - 1);
}

static void a_return_address_belongs_to_its_call(void **state)
{
	struct fixture *f = *state;
	struct profile_stack stack;

	add_exact(f, (uintptr_t)sym_next);
	add_return(f, (uintptr_t)sym_next);
	stack = make_stack(f);
	assert_int_equal(stack.len, 2);
	assert_string_equal(name_at(f, stack, 0), "sym_next");
	assert_string_equal(name_at(f, stack, 1), "sym_noreturn_caller");
	assert_int_equal(frame_at(f, stack, 1)->address + 1, frame_at(f, stack, 0)->address);
}

static void equal_samples_are_one_stack(void **state)
{
	struct fixture *f = *state;
	uint32_t first, second;

	add_exact(f, (uintptr_t)sym_leaf);
	make_stack(f);
	first = stack_id(f);
	second = stack_id(f);
	assert_int_equal(first, second);
	f->sample.reason = UNWIND_DEPTH;
	assert_int_not_equal(stack_id(f), first);
}

static void the_reason_stands_at_the_root(void **state)
{
	struct fixture *f = *state;
	struct profile_stack stack;

	add_exact(f, (uintptr_t)sym_leaf);
	f->sample.reason = UNWIND_PAGE;
	stack = make_stack(f);
	assert_int_equal(stack.len, 2);
	assert_string_equal(name_at(f, stack, 1), "[unwind: page-not-resident]");
	assert_int_equal(frame_at(f, stack, 1)->kind, FRAME_MARK);
	/* From the first number behind those that there are. */
	for (unsigned int reason = UNWIND_REASON_COUNT; reason < 256; reason++) {
		f->sample.reason = (uint8_t)reason;
		stack = make_stack(f);
		assert_int_equal(stack.len, 2);
		assert_string_equal(name_at(f, stack, 1), "[unwind: unknown]");
	}
}

static void the_vdso_has_names(void **state)
{
	struct fixture *f = *state;
	struct profile_stack stack;
	struct mapping *mapping;
	uint64_t vdso = 0;

	vec_for_each (mapping, &f->self->mappings)
		if (strcmp(mapping->path, "[vdso]") == 0)
			vdso = mapping->start;
	if (!vdso)
		skip();
	for (uint64_t offset = 0; offset < 4096; offset += 64)
		if (f->sample.user_words < MAX_WORDS)
			add_exact(f, vdso + offset);
	stack = make_stack(f);
	for (uint32_t i = 0; i < stack.len; i++)
		if (strcmp(name_at(f, stack, i), "__vdso_clock_gettime") == 0 ||
		    strcmp(name_at(f, stack, i), "clock_gettime") == 0) {
			assert_string_equal(mapping_at(f, stack, i), "[vdso]");
			return;
		}
	fail_msg("no frame of the vDSO's first page is clock_gettime");
}

static void anonymous_code(void **state)
{
	struct fixture *f = *state;
	char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[] = "";
	struct mapping m = { .start = (uintptr_t)code,
			     .end = (uintptr_t)code + 4096,
			     .path = path };
	struct profile_stack stack;

	assert_ptr_not_equal(code, MAP_FAILED);
	registry_mmap(f->registry, 0, f->self->pid, &m);
	add_exact(f, (uintptr_t)code + 16);
	add_exact(f, 0x10);
	stack = make_stack(f);
	assert_string_equal(name_at(f, stack, 0), "[anon]");
	assert_string_equal(mapping_at(f, stack, 0), "[anon]");
	assert_string_equal(name_at(f, stack, 1), "[unknown]");
	assert_int_equal(frame_at(f, stack, 1)->mapping, PROFILE_NONE);
	munmap(code, 4096);
}

static void write_perf_map(const char *code, const char *name)
{
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	assert_non_null(map);
	fprintf(map, "%lx 100 %s\n", (unsigned long)(uintptr_t)code, name);
	fclose(map);
}

static void remove_perf_map(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
}

static void code_named_by_a_perf_map(void **state)
{
	struct fixture *f = *state;
	char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[] = "";
	struct mapping m = { .start = (uintptr_t)code,
			     .end = (uintptr_t)code + 4096,
			     .path = path };
	struct profile_stack stack;

	write_perf_map(code, "LazyCompile:~handler /srv/app.js:12");
	registry_mmap(f->registry, 0, f->self->pid, &m);
	add_exact(f, (uintptr_t)code + 16);
	add_exact(f, (uintptr_t)code + 0x100);
	stack = make_stack(f);
	remove_perf_map();
	assert_string_equal(name_at(f, stack, 0), "LazyCompile:~handler /srv/app.js:12");
	assert_int_equal(frame_at(f, stack, 0)->kind, FRAME_JIT_OTHER);
	assert_string_equal(mapping_at(f, stack, 0), "[JIT]");
	assert_string_equal(name_at(f, stack, 1), "[anon]");
	munmap(code, 4096);
}

/* A mapping of a file that cannot be opened: shown as file and offset, and reported by name. */
static void note_failure(const char *path, const char *why, void *data)
{
	assert_string_equal(path, "/no/such/file (deleted)");
	assert_non_null(strstr(why, "/no/such/file"));
	++*(int *)data;
}

static void a_file_that_vanished(void **state)
{
	struct fixture *f = *state;
	char path[] = "/no/such/file (deleted)";
	struct mapping m = { .start = 0x10000, .end = 0x20000, .pgoff = 0x3000, .path = path };
	struct profile_stack stack;
	int failures = 0;

	m.key.inode = 123456;
	m.key.major = 77;
	registry_mmap(f->registry, 0, f->self->pid, &m);
	assert_true(symbolizer_arrive(f->symbolizer, f->self, &f->sample));
	add_exact(f, 0x11234);
	add_exact(f, (uintptr_t)sym_leaf);
	stack = make_stack(f);
	assert_string_equal(name_at(f, stack, 0), "");
	assert_string_equal(mapping_at(f, stack, 0), "/no/such/file");
	assert_int_equal(frame_at(f, stack, 0)->address, 0x4234);
	assert_string_equal(name_at(f, stack, 1), "sym_leaf");
	image_cache_for_each_failed(f->images, note_failure, &failures);
	assert_int_equal(failures, 1);
}

static void a_nameless_first_frame_is_named_by_its_role(void **state)
{
	struct fixture *f = *state;
	char path[] = "/no/such/file (deleted)";
	struct mapping m = { .start = 0x10000, .end = 0x20000, .path = path };
	struct profile_stack stack;

	m.key.inode = 123456;
	registry_mmap(f->registry, 0, f->self->pid, &m);
	add_exact(f, (uintptr_t)sym_leaf);
	add_return(f, 0x11234);
	stack = make_stack(f);
	assert_int_equal(stack.len, 2);
	assert_string_equal(name_at(f, stack, 1), "[process start]");
	assert_int_equal(frame_at(f, stack, 1)->kind, FRAME_MARK);
	f->sample.tid++;
	assert_string_equal(name_at(f, make_stack(f), 1), "[thread start]");
	/* not when the walk did not get there */
	f->sample.reason = UNWIND_FP_BAD;
	stack = make_stack(f);
	assert_int_equal(stack.len, 3);
	assert_string_equal(name_at(f, stack, 1), "");
}

static void kernel_frames_come_first(void **state)
{
	struct fixture *f = *state;
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = NULL;
	struct profile_stack stack;

	add_word(f, 0xffffffff81000010, true);
	f->sample.words[1] = (uintptr_t)sym_leaf | WIRE_FRAME_EXACT;
	f->sample.user_words = 1;
	f->sample.size += 8;
	stack = make_stack(f);
	assert_int_equal(stack.len, 2);
	assert_int_equal(frame_at(f, stack, 0)->kind, FRAME_KERNEL);
	assert_string_equal(mapping_at(f, stack, 0), "[kernel]");
	assert_int_equal(frame_at(f, stack, 0)->address, 0xffffffff81000010);
	if (symbolizer_kernel_failure(f->symbolizer)[0] == '\0')
		assert_string_not_equal(name_at(f, stack, 0), "");
	assert_string_equal(name_at(f, stack, 1), "sym_leaf");
}

static void counts_beyond_the_record(void **state)
{
	struct fixture *f = *state;

	add_exact(f, (uintptr_t)sym_leaf);
	f->sample.user_words = 60000;
	assert_int_equal(make_stack(f).len, 1);
	f->sample.user_words = 1;
	f->sample.kernel_frames = 60000; /* takes the only word */
	assert_int_equal(make_stack(f).len, 1);
	f->sample.size = 0;
	assert_int_equal(make_stack(f).len, 0);
	/* an interpreted frame whose words are cut off */
	f->sample.size = sizeof(struct wire_sample);
	f->sample.kernel_frames = f->sample.user_words = 0;
	add_exact(f, (uintptr_t)sym_leaf);
	add_word(f, (uint64_t)WIRE_FRAME_INTERPRETED << WIRE_FRAME_KIND_SHIFT | 0x1000, false);
	add_word(f, 1, false);
	assert_int_equal(make_stack(f).len, 1);
}

static void new_tables_mean_new_ids(void **state)
{
	struct fixture *f = *state;

	add_exact(f, (uintptr_t)sym_leaf);
	make_stack(f);
	profile_release(&f->profile);
	profile_init(&f->profile);
	symbolizer_reset_ids(f->symbolizer);
	assert_string_equal(name_at(f, make_stack(f), 0), "sym_leaf");
}

static void a_new_mapping_changes_the_names(void **state)
{
	struct fixture *f = *state;
	char path[] = "/no/such/file";
	struct mapping m = { .start = (uintptr_t)sym_leaf & ~4095UL, .path = path };

	add_exact(f, (uintptr_t)sym_leaf);
	assert_string_equal(name_at(f, make_stack(f), 0), "sym_leaf");
	m.end = m.start + 4096;
	m.key.inode = 99;
	registry_mmap(f->registry, 0, f->self->pid, &m);
	assert_string_equal(name_at(f, make_stack(f), 0), "[process start]");
	/* an exec drops all */
	registry_exec(f->registry, 0, f->self->pid, "new");
	assert_string_equal(name_at(f, make_stack(f), 0), "[unknown]");
	symbolizer_forget(f->symbolizer, f->self);
	assert_string_equal(name_at(f, make_stack(f), 0), "[unknown]");
}

/* LEAF, and what has called it: another one each time, then the same. */
static struct profile_stack called_by(struct fixture *f, uintptr_t leaf, unsigned int callers)
{
	f->sample.size = sizeof(struct wire_sample);
	f->sample.user_words = f->sample.kernel_frames = 0;
	add_exact(f, leaf);
	for (unsigned int i = 0; i < callers; i++)
		add_return(f, (uintptr_t)hsearch_r + 4);
	add_return(f, (uintptr_t)own_functions_and_libc + 5);
	return make_stack(f);
}

/* What was the last stack's, too, has the same frames, but only as long as they are what they were. */
static void the_same_callers(void **state)
{
	struct fixture *f = *state;
	char path[] = "/no/such/file";
	struct mapping m = { .start = (uintptr_t)own_functions_and_libc & ~4095UL, .path = path };
	struct profile_stack stack;

	called_by(f, (uintptr_t)sym_leaf, 2);
	for (unsigned int callers = 0; callers < 5; callers++) {
		stack = called_by(f, (uintptr_t)sym_next, callers);
		assert_int_equal(stack.len, callers + 2);
		assert_string_equal(name_at(f, stack, 0), "sym_next");
		for (unsigned int i = 1; i <= callers + 1; i++)
			assert_string_equal(name_at(f, stack, i),
					    i <= callers ? "hsearch_r" : "own_functions_and_libc");
	}
	m.end = m.start + 4096;
	m.key.inode = 99;
	registry_mmap(f->registry, 0, f->self->pid, &m);
	for (unsigned int i = 1; i < 4; i++) {
		stack = called_by(f, (uintptr_t)hsearch_r + i, 1);
		assert_string_equal(name_at(f, stack, 1), "hsearch_r");
		/* Nobody's: the root is named for its thread, the last time another one. */
		assert_string_equal(name_at(f, stack, 2),
				    i < 3 ? "[process start]" : "[thread start]");
		f->sample.tid += i == 2;
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(own_functions_and_libc),
		TEST(a_return_address_belongs_to_its_call),
		TEST(equal_samples_are_one_stack),
		TEST(the_reason_stands_at_the_root),
		TEST(the_vdso_has_names),
		TEST(anonymous_code),
		TEST(code_named_by_a_perf_map),
		TEST(a_file_that_vanished),
		TEST(a_nameless_first_frame_is_named_by_its_role),
		TEST(kernel_frames_come_first),
		TEST(counts_beyond_the_record),
		TEST(new_tables_mean_new_ids),
		TEST(a_new_mapping_changes_the_names),
		TEST(the_same_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
