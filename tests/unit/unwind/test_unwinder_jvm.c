/* SPDX-License-Identifier: Apache-2.0 */
/* A sample in code without a file of a process that maps HotSpot's library. */
#include "heap_tables.h"
#include "unwinder_fixture.h"

#include <fcntl.h>
#include <sys/mman.h>

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
	miss->regs[DWARF_RBP] = f->caller_fp;
	miss->regs[DWARF_RSP] = miss->copy_at + at;
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
	/* What changes in it is published by a later turn. */
	f->jvm.return_barrier = 0x4711;
	unwinder_turn(f->unwinder, clock_now_ns() + 2 * NSEC_PER_SEC);
	assert_int_equal(table_memory_heap_jvm(f->memory, 5)->return_barrier, 0x4711);
	unmap_java(&java);
}

/* Its tables are not there yet: the sample waits, and does not ask all the time. */
static void test_starting_jvm(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ struct wire_sample *sample = NULL;
	struct java java;
	uint64_t begin_ns;
	bool waits;

	map_java(&java);
	take_stack(f);
	make_sample(f);
	enter_java(f, &java);
	/* On a busy machine the pause of 2 ms may be over at once. */
	do {
		begin_ns = clock_now_ns();
		assert_null(try(f));
		assert_true(unwinder_wants_again(f->unwinder));
		waits = unwinder_waits_for_jvm(f->unwinder, f->sample);
	} while (!waits && clock_now_ns() - begin_ns >= 2 * NSEC_PER_MSEC);
	assert_true(waits);
	assert_int_equal(published_jvm(f), WIRE_JVM_PENDING);
	f->jvm.serial = 5;
	for (int i = 0; i < 1000 && unwinder_waits_for_jvm(f->unwinder, f->sample); i++)
		usleep(3000);
	assert_false(unwinder_waits_for_jvm(f->unwinder, f->sample));
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
	bool is_kept = false;
	struct java java;

	map_java(&java);
	take_stack(f);
	make_sample(f);
	enter_java(f, &java);
	assert_int_equal(mappings_read(&f->process), 0);
	f->process.exited = true;
	sample = finish(f);
	assert_int_equal(sample_check(sample, sample->size), 0);
	assert_int_equal(user_words(sample)[0], f->miss->pc | WIRE_FRAME_EXACT);
	assert_int_equal(f->jvm_reads, 1);
	/* What one sample learnt is good for the next, for some milliseconds, and not while a file is being read. */
	for (unsigned int i = 0; i < 500 && !is_kept; i++) {
		unsigned int before = f->jvm_reads;

		free(finish(f));
		is_kept = f->jvm_reads == before;
		usleep(10000);
	}
	assert_true(is_kept);
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
		TEST(test_first_java_frame),	TEST(test_starting_jvm),
		TEST(test_jvm_that_is_gone),	TEST(test_fork_of_jvm),
		TEST(test_exit_takes_jvm_back),
	};

	return cmocka_run_group_tests_name("unwinder_jvm", tests, NULL, NULL);
}
