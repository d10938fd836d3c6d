/* SPDX-License-Identifier: Apache-2.0 */
/* This process's own stack, as BPF would have sent it, is walked at once and late. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "base/clock.h"
#include "base/file.h"
#include "capture/rings.h"
#include "process/mappings.h"
#include "process/proc.h"
#include "session/unwinder.h"

#define KERNEL_WORD 0xffffffff81000000ULL

struct fixture {
	struct table_memory *memory;
	struct image_cache *images;
	struct unwinder *unwinder;
	struct unwind_jvm_source jvms;
	struct wire_jvm jvm; /* what it gives; serial 0: nothing yet */
	unsigned int jvm_reads;
	struct process process; /* this one, as the registry would have it */
	struct wire_miss *miss;
	struct wire_sample *sample;
	uint64_t caller; /* where the frame of `miss` returns to */
};

static uint64_t stack_end(void)
{
	_cleanup_strbuf_ struct strbuf maps = STRBUF_INIT;
	uint64_t here = (uintptr_t)&maps;
	struct maps_line line;
	const char *text;
	ssize_t taken;

	assert_int_equal(file_read("/proc/self/maps", 1 << 20, &maps), 0);
	text = strbuf_str(&maps);
	while ((taken = proc_parse_maps_line(text, maps.len, &line)) > 0) {
		if (line.start <= here && here < line.end)
			return line.end;
		text += taken;
		maps.len -= (size_t)taken;
	}
	fail();
	return 0;
}

static void take_registers(struct wire_miss *miss, const ucontext_t *context)
{
	/* by DWARF number: System V ABI, AMD64 supplement, figure 3.36 */
	static const int order[16] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				       REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
				       REG_R12, REG_R13, REG_R14, REG_R15 };

	for (int i = 0; i < 16; i++)
		miss->regs[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	miss->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

/* The stack from here up, and the registers. */
static __attribute__((noinline)) void take_stack(struct fixture *f)
{
	struct wire_miss *miss = f->miss = calloc(1, sizeof(*miss) + WIRE_MISS_MAX_COPY);
	ucontext_t context;

	miss->kind = WIRE_MISS;
	miss->tgid = miss->tid = (uint32_t)getpid();
	miss->leaf = miss->exact = 1;
	miss->time_ns = clock_now_ns();
	f->caller = (uintptr_t)__builtin_return_address(0);
	assert_int_equal(getcontext(&context), 0);
	take_registers(miss, &context);
	miss->copy_at = miss->regs[7] - WIRE_MISS_BELOW;
	miss->copy_bytes = (uint32_t)MIN(stack_end() - miss->copy_at, WIRE_MISS_MAX_COPY);
	/* by way of the kernel: sanitizers do not like what lies between variables */
	assert_int_equal(proc_read_memory(miss->tgid, miss->copy_at, miss->copy, miss->copy_bytes),
			 0);
	miss->size = (uint32_t)sizeof(*miss) + miss->copy_bytes;
}

/* Nothing was walked but one frame of the kernel. */
static void make_sample(struct fixture *f)
{
	struct wire_sample *sample = f->sample = calloc(1, sizeof(*sample) + 8);

	sample->size = sizeof(*sample) + 8;
	sample->kind = WIRE_SAMPLE;
	sample->flags = WIRE_SAMPLE_RESUMED;
	sample->reason = UNWIND_NO_ROWS;
	sample->tgid = sample->tid = f->miss->tgid;
	sample->time_ns = f->miss->time_ns;
	sample->start_ns = 1;
	sample->exec_id = 3;
	sample->kernel_frames = 1;
	sample->words[0] = KERNEL_WORD;
}

static int read_jvm(uint32_t pid, const struct mapping *libjvm, bool urgent,
		    struct wire_jvm *ret_wire, void *data)
{
	struct fixture *f = data;

	(void)pid;
	(void)libjvm;
	f->jvm_reads += urgent;
	*ret_wire = f->jvm;
	return f->jvm.serial ? 0 : -ENODATA;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_strbuf_ struct strbuf maps = STRBUF_INIT;
	struct err err;

	*state = f;
	f->memory = table_memory_new_heap(4096, 1024, 4096);
	f->jvms = (struct unwind_jvm_source){ read_jvm, f };
	if (image_cache_new(NULL, &f->images, &err) < 0 ||
	    unwinder_new(f->memory, f->images, &f->jvms, 1 << 20, &f->unwinder, &err) < 0)
		return -1;
	f->process.pid = (uint32_t)getpid();
	f->process.serial = 1;
	if (file_read("/proc/self/maps", 1 << 20, &maps) < 0)
		return -1;
	mappings_add_text(&f->process, strbuf_str(&maps), maps.len);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unwinder_free(f->unwinder);
	image_cache_free(f->images);
	table_memory_free_heap(f->memory);
	mappings_clear(&f->process);
	free(f->miss);
	free(f->sample);
	free(f);
	return 0;
}

static const uint64_t *user_words(const struct wire_sample *sample)
{
	return sample->words + sample->kernel_frames;
}

static void check_whole(const struct fixture *f, const struct wire_sample *sample)
{
	assert_non_null(sample);
	assert_int_equal(sample_check(sample, sample->size), 0);
	assert_int_equal(sample->reason, UNWIND_DONE);
	assert_int_equal(sample->flags, 0);
	assert_int_equal(sample->words[0], KERNEL_WORD);
	/* take_stack, the test, cmocka, main, the C library, _start */
	assert_true(sample->user_frames >= 6);
	assert_int_equal(user_words(sample)[0], f->miss->pc | WIRE_FRAME_EXACT);
	assert_int_equal(user_words(sample)[1], f->caller);
}

/* On a busy machine the time for walks is used up sooner. */
static struct wire_sample *try(struct fixture *f)
{
	struct wire_sample *sample = unwinder_try(f->unwinder, f->miss, f->sample, 0);

	for (int i = 0; i < 50 && !sample && unwinder_is_busy(f->unwinder); i++) {
		unwinder_grant(f->unwinder);
		sample = unwinder_try(f->unwinder, f->miss, f->sample, 0);
	}
	return sample;
}

static struct wire_sample *finish(struct fixture *f)
{
	return unwinder_finish(f->unwinder, f->miss, f->sample, &f->process, 0);
}

static uint64_t figure;

static void note_figure(const char *name, const char *detail, uint64_t value, void *data)
{
	if (strcmp(name, data) == 0 && !*detail)
		figure = value;
}

static uint64_t figure_of(const struct fixture *f, const char *name)
{
	_cleanup_free_ char *copy = xstrdup(name);

	figure = 0;
	unwinder_for_each_figure(f->unwinder, note_figure, copy);
	return figure;
}

static void test_at_once(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *first = NULL, *second = NULL;
	uint64_t made;

	take_stack(f);
	make_sample(f);
	first = try(f);
	check_whole(f, first);
	made = figure_of(f, "unwind.pages-made");
	assert_true(made > 0);
	assert_int_equal(figure_of(f, "unwind.spaces"), 1);
	/* now everything is there */
	second = try(f);
	check_whole(f, second);
	assert_int_equal(figure_of(f, "unwind.pages-made"), made);
	assert_int_equal(figure_of(f, "unwind.mappings-read"), 1);
	assert_int_equal(figure_of(f, "unwind.misses-finished-at-once"), 2);
}

/* The process is gone: its mappings are those that the registry has. */
static void test_late(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;

	f->process.exited = true;
	take_stack(f);
	make_sample(f);
	sample = finish(f);
	check_whole(f, sample);
	assert_int_equal(figure_of(f, "unwind.spaces"), 0);
	assert_int_equal(figure_of(f, "unwind.misses-finished-late"), 1);
}

/* BPF came as far as this frame. */
static void test_goes_on(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;

	take_stack(f);
	make_sample(f);
	f->sample = xrealloc(f->sample, sizeof(*f->sample) + 16);
	f->sample->words[1] = 0x4711;
	f->sample->user_words = f->sample->user_frames = 1;
	f->sample->size += 8;
	sample = try(f);
	assert_non_null(sample);
	assert_int_equal(sample_check(sample, sample->size), 0);
	assert_int_equal(sample->reason, UNWIND_DONE);
	assert_int_equal(user_words(sample)[0], 0x4711);
	assert_int_equal(user_words(sample)[1], f->miss->pc | WIRE_FRAME_EXACT);
	assert_int_equal(user_words(sample)[2], f->caller);
}

/* The pid has another owner now, who began after the sample. */
static void test_other_generation(void **state)
{
	struct fixture *f = *state;

	take_stack(f);
	make_sample(f);
	f->sample->time_ns = 1;
	assert_null(try(f));
	assert_int_equal(figure_of(f, "unwind.spaces"), 0);
}

/* It runs another program now: neither is the code there, nor does the kernel count so much. */
static void test_execed(void **state)
{
	struct fixture *f = *state;

	take_stack(f);
	make_sample(f);
	f->miss->pc = 0x1000;
	assert_null(try(f));
	assert_int_equal(figure_of(f, "unwind.spaces"), 0);
}

static void test_unknown_process(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;

	mappings_clear(&f->process);
	take_stack(f);
	make_sample(f);
	sample = finish(f);
	assert_int_equal(sample_check(sample, sample->size), 0);
	assert_int_equal(sample->reason, UNWIND_NO_ROWS);
	assert_int_equal(sample->user_frames, 0);
	assert_int_equal(figure_of(f, "unwind.misses-unfinished"), 1);
}

static void test_copy_ends(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;

	take_stack(f);
	make_sample(f);
	f->miss->copy_bytes = WIRE_MISS_BELOW + 8;
	sample = try(f);
	assert_non_null(sample);
	assert_int_equal(sample_check(sample, sample->size), 0);
	assert_int_equal(sample->reason, UNWIND_COPY_END);
	assert_int_equal(user_words(sample)[0], f->miss->pc | WIRE_FRAME_EXACT);
}

/* The return address is none. */
static void test_bad_return(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;

	take_stack(f);
	make_sample(f);
	for (uint32_t at = 0; at + 8 <= f->miss->copy_bytes; at += 8)
		if (memcmp(f->miss->copy + at, &f->caller, 8) == 0)
			memset(f->miss->copy + at, 0x33, 6);
	sample = finish(f);
	assert_int_equal(sample->reason, UNWIND_BAD_RETURN);
	assert_int_equal(sample->user_frames, 2);
}

static void test_exit_drops_space(void **state)
{
	struct fixture *f = *state;

	take_stack(f);
	make_sample(f);
	free(try(f));
	unwinder_note_exit(f->unwinder, f->miss->tgid);
	assert_int_equal(figure_of(f, "unwind.spaces"), 0);
	unwinder_note_exit(f->unwinder, f->miss->tgid);
}

/* Where its code was is something else: walks wait for the mappings of their time, for a while. */
static void test_replaced_code(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;
	struct mapping mapping, *mine;
	char none[] = "";

	take_stack(f);
	make_sample(f);
	free(try(f));
	mine = process_find_mapping(&f->process, f->miss->pc);
	/* the same once more is nothing new */
	unwinder_note_mapping(f->unwinder, f->process.pid, mine);
	assert_int_equal(figure_of(f, "unwind.spaces"), 1);
	mapping = *mine;
	mapping.path = none;
	mapping.key = (struct file_key){ 0 };
	unwinder_note_mapping(f->unwinder, f->process.pid, &mapping);
	assert_int_equal(figure_of(f, "unwind.spaces"), 0);
	assert_null(try(f));
	sample = finish(f);
	check_whole(f, sample);
}

/* BPF counts other pages, and goes on to do so: after two readings it is told not to compare. */
static void test_count_that_differs(void **state)
{
	struct fixture *f = *state;
	const uint64_t step_ns = 200 * NSEC_PER_MSEC;
	struct wire_space space;

	take_stack(f);
	make_sample(f);
	free(try(f));
	assert_int_equal(f->memory->get_space(f->miss->tgid, &space, f->memory->data), 0);
	assert_true(space.exec_pages > 0);
	f->sample->flags = WIRE_SAMPLE_STALE;
	for (uint64_t turn = 1; turn <= 2; turn++) {
		assert_true(space.exec_pages > 0);
		f->sample->time_ns = clock_now_ns() + turn * step_ns;
		unwinder_note_sample(f->unwinder, f->sample);
		unwinder_turn(f->unwinder, f->sample->time_ns + step_ns / 2);
		assert_int_equal(f->memory->get_space(f->miss->tgid, &space, f->memory->data), 0);
	}
	assert_int_equal(space.exec_pages, 0);
}

/* --- a JVM ------------------------------------------------------------------------------------ */

/* Code without a file, and a file of HotSpot's library's name. */
struct java {
	uint8_t *code;
	uint8_t *libjvm;
	char path[64];
};

static void map_java(struct java *java)
{
	static const uint8_t ret_instruction = 0xc3;
	int fd;

	snprintf(java->path, sizeof(java->path), "/tmp/hostprof-test-XXXXXX");
	assert_non_null(mkdtemp(java->path));
	strcat(java->path, "/libjvm.so");
	fd = open(java->path, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	java->libjvm = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	java->code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(java->code, MAP_FAILED);
	memset(java->code, ret_instruction, 4096);
	assert_int_equal(mprotect(java->code, 4096, PROT_READ | PROT_EXEC), 0);
}

static void unmap_java(struct java *java)
{
	munmap(java->code, 4096);
	munmap(java->libjvm, 4096);
	unlink(java->path);
	*strrchr(java->path, '/') = '\0';
	rmdir(java->path);
}

/* The sample was taken in its code, which take_stack() had called. */
static void enter_java(struct fixture *f, const struct java *java)
{
	struct wire_miss *miss = f->miss;
	uint32_t at = 0;

	while (at + 8 < miss->copy_bytes && memcmp(miss->copy + at, &f->caller, 8) != 0)
		at += 8;
	miss->regs[7] = miss->copy_at + at;
	miss->pc = (uintptr_t)java->code + 64;
	miss->thread = 0;
}

static uint32_t published_jvm(const struct fixture *f)
{
	struct wire_space space = { 0 };

	f->memory->get_space(f->miss->tgid, &space, f->memory->data);
	return space.jvm;
}

/* Its first sample in Java code: the layout is read, published, and the walk goes on. */
static void test_first_java_frame(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *first = NULL, *second = NULL;
	struct java java;

	map_java(&java);
	take_stack(f);
	make_sample(f);
	first = try(f);
	check_whole(f, first);
	assert_int_equal(f->jvm_reads, 0); /* no Java code yet */
	assert_int_equal(published_jvm(f), WIRE_JVM_PENDING);
	f->jvm.serial = 5; /* a HotSpot whose layout cannot be read */
	enter_java(f, &java);
	second = try(f);
	check_whole(f, second);
	assert_int_equal(f->jvm_reads, 1);
	assert_int_equal(published_jvm(f), 5);
	assert_int_equal(table_memory_heap_jvm(f->memory, 5)->serial, 5);
	unmap_java(&java);
}

/* Its tables are not there yet: the sample waits, and does not ask all the time. */
static void test_starting_jvm(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;
	struct java java;

	map_java(&java);
	take_stack(f);
	make_sample(f);
	enter_java(f, &java);
	assert_null(try(f));
	assert_true(unwinder_wants_again(f->unwinder));
	assert_int_equal(published_jvm(f), WIRE_JVM_PENDING);
	f->jvm.serial = 5;
	usleep(3000);
	sample = try(f);
	check_whole(f, sample);
	assert_false(unwinder_wants_again(f->unwinder));
	unmap_java(&java);
}

/* Its end came first: its code is walked blindly. */
static void test_jvm_that_is_gone(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;
	struct java java;

	map_java(&java);
	take_stack(f);
	make_sample(f);
	enter_java(f, &java);
	f->process.exited = true;
	sample = finish(f);
	assert_int_equal(sample_check(sample, sample->size), 0);
	assert_int_equal(user_words(sample)[0], f->miss->pc | WIRE_FRAME_EXACT);
	unmap_java(&java);
}

static void test_exit_takes_jvm_back(void **state)
{
	struct fixture *f = *state;
	struct java java;

	map_java(&java);
	take_stack(f);
	make_sample(f);
	enter_java(f, &java);
	f->jvm.serial = 5;
	free(try(f));
	assert_int_equal(published_jvm(f), 5);
	unwinder_note_exit(f->unwinder, f->miss->tgid);
	assert_null(table_memory_heap_jvm(f->memory, 5));
	assert_int_equal(published_jvm(f), 0);
	/* it was an exec: another JVM there is another number */
	f->jvm.serial = 6;
	f->sample->exec_id++;
	free(try(f));
	assert_int_equal(published_jvm(f), 6);
	unmap_java(&java);
}

/* The parent of this fork, a JVM, is gone, and its layout with it: the child has its own. */
static void test_fork_of_jvm(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;
	struct wire_space space;
	struct java java;

	map_java(&java);
	take_stack(f);
	make_sample(f);
	enter_java(f, &java);
	f->jvm.serial = 5;
	free(try(f));
	assert_int_equal(f->memory->get_space(f->miss->tgid, &space, f->memory->data), 0);
	unwinder_note_exit(f->unwinder, f->miss->tgid);
	/* as BPF copies it */
	assert_int_equal(f->memory->set_space(f->miss->tgid, &space, f->memory->data), 0);
	f->jvm.serial = 6;
	sample = try(f);
	check_whole(f, sample);
	assert_int_equal(published_jvm(f), 6);
	unmap_java(&java);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_at_once),	     TEST(test_late),
		TEST(test_goes_on),	     TEST(test_other_generation),
		TEST(test_execed),	     TEST(test_unknown_process),
		TEST(test_copy_ends),	     TEST(test_bad_return),
		TEST(test_exit_drops_space), TEST(test_count_that_differs),
		TEST(test_replaced_code),    TEST(test_first_java_frame),
		TEST(test_starting_jvm),     TEST(test_jvm_that_is_gone),
		TEST(test_fork_of_jvm),	     TEST(test_exit_takes_jvm_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
