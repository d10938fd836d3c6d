/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "process/proc.h"
#include "unwind/unwind_ranges.c"

struct fixture {
	struct image_cache *images;
	struct unwind_files *files;
	struct unwind_ranges ranges;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	f->images = image_cache_new(NULL);
	f->files = unwind_files_new(f->images, 16, SIZE_MAX);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unwind_ranges_release(&f->ranges);
	unwind_files_free(f->files);
	image_cache_free(f->images);
	free(f);
	return 0;
}

static void parse(struct fixture *f, const char *text)
{
	struct reading reading = { &f->ranges, f->files, (uint32_t)getpid() };

	clear(&f->ranges);
	exec_maps_parse(0, text, strlen(text), add_read, &reading);
}

/* Code without a file, of whatever origin, is one kind; neighbours are one range. */
static void test_code_without_file(void **state)
{
	struct fixture *f = *state;

	parse(f, "1000-3000 r-xp 00000000 00:00 0 \n"
		 "3000-4000 r-xp 00000000 00:00 0 [anon:jit]\n"
		 "4000-5000 rw-p 00000000 00:00 0 \n"
		 "5000-6000 rwxp 00000000 00:01 77 /memfd:code (deleted)\n"
		 "8000-9000 r-xp 00000000 00:01 78 /nowhere/lib.so (deleted)\n"
		 "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n");
	assert_int_equal(f->ranges.v.len, 3);
	assert_int_equal(f->ranges.v.items[0].start, 0x1000);
	assert_int_equal(f->ranges.v.items[0].end, 0x4000);
	assert_int_equal(f->ranges.v.items[1].start, 0x5000);
	assert_int_equal(f->ranges.v.items[2].start, 0x8000);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(f->ranges.v.items[i].file, 0);
	/* two, one and one page; the kernel does not count what is writable */
	assert_int_equal(f->ranges.exec_pages, 4);
}

static void test_malformed(void **state)
{
	struct fixture *f = *state;

	parse(f, "1000-2000 r-xp 00000000 00:00 0 \nwhat\n3000-4000 r-xp 00000000 00:00 0 \n");
	assert_int_equal(f->ranges.v.len, 1);
	parse(f, "");
	assert_int_equal(f->ranges.v.len, 0);
	assert_int_equal(f->ranges.exec_pages, 0);
	assert_null(unwind_ranges_find(&f->ranges, 0x1000));
}

/* The file's own address of a function of this program, by its range. */
static void test_own_program(void **state)
{
	struct fixture *f = *state;
	uint64_t here = (uintptr_t)test_own_program;
	const struct wire_range *mine, *vdso;
	struct cfi_rows rows = { VEC_INIT };
	uint64_t own;

	assert_int_equal(unwind_ranges_read(&f->ranges, f->files, (uint32_t)getpid(), 0), 0);
	mine = unwind_ranges_find(&f->ranges, here);
	assert_non_null(mine);
	assert_true(mine->file > 0);
	assert_true(mine->start <= here && here < mine->end);
	own = here - mine->bias;
	assert_true(unwind_files_rows(f->files, mine->file, own, &rows));
	/* at a function's first byte the return address lies at %rsp */
	for (size_t i = rows.v.len; i-- > 0;) {
		if (rows.v.items[i].offset > (own & (WIRE_PAGE_BYTES - 1)))
			continue;
		assert_int_equal(rows.v.items[i].rule.kind, WIRE_RULE_CFA);
		assert_int_equal(rows.v.items[i].rule.cfa_reg, 7);
		assert_int_equal(rows.v.items[i].rule.cfa_offset, 8);
		break;
	}
	for (size_t i = 1; i < f->ranges.v.len; i++)
		assert_true(f->ranges.v.items[i - 1].end <= f->ranges.v.items[i].start);
	vdso = &f->ranges.v.items[f->ranges.v.len - 1];
	assert_true(vdso->file > 0 && vdso->file != mine->file);
	vec_release(&rows.v);
}

static void test_gone(void **state)
{
	struct fixture *f = *state;

	assert_true(unwind_ranges_read(&f->ranges, f->files, 0x3ffffff, 0) < 0);
}

static void copy_file(const char *from, const char *to)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	FILE *file = fopen(to, "w");

	assert_int_equal(file_read(from, 64UL << 20, &bytes), 0);
	assert_non_null(file);
	assert_int_equal(fwrite(bytes.buf, 1, bytes.len, file), bytes.len);
	fclose(file);
}

static uint32_t file_number(struct fixture *f, const char *path)
{
	_cleanup_strbuf_ struct strbuf maps = STRBUF_INIT;
	int fd = open(path, O_RDONLY);
	void *at = mmap(NULL, 1 << 16, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	struct maps_line line;
	const char *text;
	uint32_t number = 0;
	ssize_t taken;

	close(fd);
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(file_read("/proc/self/maps", 1 << 20, &maps), 0);
	text = strbuf_str(&maps);
	while ((taken = proc_parse_maps_line(text, maps.len, &line)) > 0) {
		if (line.start == (uintptr_t)at) {
			_cleanup_free_ char *name = maps_line_path(&line);
			struct mapping mapping = {
				.start = line.start, .end = line.end, .key = line.key, .path = name
			};

			for (uint64_t at_page = 0; at_page < 16384 && !number; at_page++) {
				mapping.pgoff = at_page << 12;
				number = unwind_files_piece(f->files, (uint32_t)getpid(), &mapping,
							    NULL)
						 .file;
			}
		}
		text += taken;
		maps.len -= (size_t)taken;
	}
	munmap(at, 1 << 16);
	return number;
}

/* A copy has the number of the original, other content another. */
static void test_copies(void **state)
{
	struct fixture *f = *state;
	char a[] = "/tmp/hostprof-test-a.XXXXXX", b[] = "/tmp/hostprof-test-b.XXXXXX";
	uint32_t first, second, other;

	close(mkstemp(a));
	close(mkstemp(b));
	copy_file("/proc/self/exe", a);
	copy_file("/proc/self/exe", b);
	first = file_number(f, a);
	second = file_number(f, b);
	other = file_number(f, "/bin/sh");
	unlink(a);
	unlink(b);
	assert_true(first > 0);
	assert_int_equal(first, second);
	assert_true(other > 0 && other != first);
}

static void *tell_and_wait(void *data)
{
	uint32_t tid = (uint32_t)gettid();

	if (write(*(int *)data, &tid, sizeof(tid)) != sizeof(tid))
		_exit(1);
	pause();
	return NULL;
}

/* A process whose first thread has ended; its other thread's id. */
static pid_t start_without_first(uint32_t *ret_tid)
{
	pthread_t thread;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		pthread_create(&thread, NULL, tell_and_wait, &fds[1]);
		syscall(SYS_exit, 0); /* of this thread */
	}
	assert_int_equal(read(fds[0], ret_tid, sizeof(*ret_tid)), sizeof(*ret_tid));
	close(fds[0]);
	close(fds[1]);
	return pid;
}

static void test_first_thread_ended(void **state)
{
	struct fixture *f = *state;
	uint32_t tid;
	pid_t pid = start_without_first(&tid);
	int r = 0;

	for (int i = 0; i < 1000 && r == 0; i++) {
		usleep(1000);
		r = unwind_ranges_read(&f->ranges, f->files, (uint32_t)pid, 0);
	}
	assert_int_equal(r, -ENODATA);
	assert_int_equal(unwind_ranges_read(&f->ranges, f->files, (uint32_t)pid, (uint32_t)pid),
			 -ENODATA);
	assert_int_equal(unwind_ranges_read(&f->ranges, f->files, (uint32_t)pid, tid), 0);
	assert_non_null(unwind_ranges_find(&f->ranges, (uintptr_t)test_first_thread_ended));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_first_thread_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(test_code_without_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_malformed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_own_program, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copies, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
