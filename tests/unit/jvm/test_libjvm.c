// SPDX-License-Identifier: Apache-2.0
/* Which mapping is HotSpot's library, where its addresses begin, and which file is behind it. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jvm/layout/libjvm.h"
#include "text_file.h"

static struct text_file content;

struct world {
	char dir[64], path[96];
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	strcpy(w->dir, "/tmp/hostprof-libjvm-XXXXXX");
	if (!mkdtemp(w->dir))
		return -1;
	snprintf(w->path, sizeof(w->path), "%s/libjvm.so", w->dir);
	text_file_fill(&content);
	content.data.p_filesz = content.data.p_memsz = PAGE;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	unlink(w->path);
	if (rmdir(w->dir) < 0)
		return -1;
	free(w);
	return 0;
}

static ino_t write_library(const struct world *w)
{
	int fd = open(w->path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0700);
	struct stat st;

	assert_int_equal(write(fd, &content, sizeof(content)), sizeof(content));
	/* Behind its segments is more of the file. */
	assert_int_equal(ftruncate(fd, 16 * PAGE), 0);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	return st.st_ino;
}

static unsigned char *map_library(const struct world *w, off_t offset)
{
	int fd = open(w->path, O_RDONLY | O_CLOEXEC);
	unsigned char *start = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, offset);

	assert_ptr_not_equal(start, MAP_FAILED);
	close(fd);
	return start;
}

static void expect_library(const struct mapping *mapping, uint64_t bias, ino_t inode)
{
	struct libjvm lib = LIBJVM_INIT;
	struct stat st;
	struct err err;

	if (libjvm_open((uint32_t)getpid(), mapping, &lib, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(lib.bias, bias);
	assert_int_equal(fstat(lib.fd, &st), 0);
	assert_int_equal(st.st_ino, inode);
	assert_int_equal(lib.id.inode, inode);
	assert_true(lib.file.segments.len > 0);
	libjvm_close(&lib);
	assert_int_equal(lib.fd, -1);
	assert_int_equal(lib.file.segments.len, 0);
}

static void expect_none(uint32_t pid, int code, const char *why)
{
	struct libjvm lib = LIBJVM_INIT;
	struct err err;

	assert_int_equal(libjvm_open(pid, NULL, &lib, &err), code);
	assert_int_equal(lib.fd, -1);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
}

static void test_names(void **state)
{
	static const struct {
		const char *path;
		bool is;
	} cases[] = {
		{ "/usr/lib/jvm/lib/server/libjvm.so", true },
		{ "/libjvm.so", true },
		{ "/x/libjvm.so (deleted)", true },
		{ "libjvm.so", false },
		{ "/x/mylibjvm.so", false },
		{ "/x/libjvm.so.1", false },
		{ "/x/libjvm.so (deleted) (deleted)", false },
		{ "/libjvm.so/x", false },
		{ "jvm.so", false },
		{ " (deleted)", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (libjvm_is_path(cases[i].path, strlen(cases[i].path)) != cases[i].is)
			fail_msg("%s", cases[i].path);
	/* So many bytes of it are the path. */
	assert_true(libjvm_is_path("/x/libjvm.so.1", strlen("/x/libjvm.so")));
	assert_false(libjvm_is_path("/x/libjvm.so", strlen("/x/libjvm.s")));
}

/* The bias is that of the segment that the mapping shows. */
static void test_bias(void **state)
{
	static const off_t offsets[] = { 0, PAGE, 2 * PAGE };
	struct world *w = *state;
	ino_t inode = write_library(w);

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		unsigned char *start = map_library(w, offsets[i]);
		/* Data are at their offset, and only in the first page. */
		uint64_t moved = offsets[i] ? TEXT_MOVED : 0;

		expect_library(NULL, (uintptr_t)start - (uint64_t)offsets[i] - moved, inode);
		munmap(start, PAGE);
	}
}

static void test_no_segment_there(void **state)
{
	struct world *w = *state;
	unsigned char *start;

	write_library(w);
	start = map_library(w, 7 * PAGE);
	expect_none((uint32_t)getpid(), -EBADMSG, "has no segment at file offset 0x7000");
	munmap(start, PAGE);
}

/* A mapping that the caller knows is taken; one that is no more is looked for. */
static void test_given_mapping(void **state)
{
	struct world *w = *state;
	ino_t inode = write_library(w);
	unsigned char *start = map_library(w, PAGE);
	char gone[] = "/no/libjvm.so";
	struct mapping mapping = { .start = (uintptr_t)start,
				   .end = (uintptr_t)start + PAGE,
				   .pgoff = PAGE,
				   .key.inode = inode,
				   .path = w->path };
	uint64_t bias = (uintptr_t)start - PAGE - TEXT_MOVED;

	expect_library(&mapping, bias, inode);
	/* Not that range any more, but the file of that name: its start says where it is. */
	mapping.end += PAGE;
	mapping.start -= PAGE;
	expect_library(&mapping, bias - PAGE, inode);
	mapping.key.inode++;
	expect_library(&mapping, bias, inode);
	mapping.path = gone;
	expect_library(&mapping, bias, inode);
	munmap(start, PAGE);
}

static void test_replaced_file(void **state)
{
	struct world *w = *state;
	ino_t inode = write_library(w);
	unsigned char *start = map_library(w, PAGE);
	char link[96];

	assert_int_equal(unlink(w->path), 0);
	write_library(w);
	snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx", (uintptr_t)start,
		 (uintptr_t)start + PAGE);
	if (access(link, R_OK) == 0)
		expect_library(NULL, (uintptr_t)start - PAGE - TEXT_MOVED, inode);
	else
		expect_none((uint32_t)getpid(), -ESTALE, "was replaced and is out of reach");
	munmap(start, PAGE);
}

static void test_without_library(void **state)
{
	struct world *w = *state;
	unsigned char *start;
	int fd;

	expect_none((uint32_t)getpid(), -ENODATA, "is no HotSpot JVM: it maps no libjvm.so");
	expect_none(0x7ffffff0, -ESRCH, "there is no process 2147483632");
	fd = open(w->path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0700);
	assert_int_equal(write(fd, w->path, 8), 8);
	close(fd);
	start = map_library(w, 0);
	expect_none((uint32_t)getpid(), -EBADMSG, "not an ELF file");
	munmap(start, PAGE);
}

static void *sleep_on(void *data)
{
	(void)data;
	pause();
	return NULL;
}

/* A child that ends, or goes on with another thread than its first one; it is a zombie. */
static pid_t start_zombie(bool goes_on)
{
	char state[64] = "", path[32];
	pthread_t thread;
	pid_t pid = fork();

	if (pid == 0) {
		if (goes_on && pthread_create(&thread, NULL, sleep_on, NULL) == 0)
			pthread_exit(NULL);
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (int i = 0; i < 1000 && !strstr(state, ") Z "); i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		usleep(1000);
		assert_true(read(fd, state, sizeof(state) - 1) > 0);
		close(fd);
	}
	return pid;
}

static void test_who_has_ended(void **state)
{
	pid_t pid = start_zombie(false);

	(void)state;
	expect_none((uint32_t)pid, -ESRCH, "has ended: it is a zombie");
	waitpid(pid, NULL, 0);
	pid = start_zombie(true);
	expect_none((uint32_t)pid, -ESRCH, "the first thread of process");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_names),	  TEST(test_bias),	    TEST(test_no_segment_there),
		TEST(test_given_mapping), TEST(test_replaced_file), TEST(test_without_library),
		TEST(test_who_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
