// SPDX-License-Identifier: Apache-2.0
/* Which file is mapped somewhere: asked for alone, or with all mappings of a process. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "base/macros.h"
#include "wall/wall.h"

#define PAGE	 4096UL
#define NO_PID	 0x7ffffffeU
#define MAPPINGS 300 /* more than are looked at in one call */

static struct fixture {
	char path[64], other[64];
	int fd;
	struct file_key key;
	struct file_id id;
	uint64_t start, end; /* where it is mapped in this process */
} f;

static int make_file(char path[64], const char *text)
{
	int fd;

	strcpy(path, "/tmp/hostprof-looks-XXXXXX");
	fd = mkstemp(path);
	assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
	return fd;
}

static uint64_t map_page(int fd, int protection, off_t offset)
{
	void *at = mmap(NULL, PAGE, protection, MAP_PRIVATE, fd, offset);

	assert_ptr_not_equal(at, MAP_FAILED);
	return (uintptr_t)at;
}

static int begin(void)
{
	struct stat st;

	f.fd = make_file(f.path, "text");
	close(make_file(f.other, "another"));
	assert_int_equal(fstat(f.fd, &st), 0);
	f.key = (struct file_key){ major(st.st_dev), minor(st.st_dev), st.st_ino, 0 };
	assert_int_equal(file_id_read(f.fd, &f.id), 0);
	f.start = map_page(f.fd, PROT_READ, 0);
	f.end = f.start + PAGE;
	return 0;
}

static int in_place(void **state)
{
	(void)state;
	return begin();
}

static int with_wall(void **state)
{
	struct err err;

	(void)state;
	return wall_begin(NULL, NULL, &err) < 0 ? -1 : begin();
}

static int tear_down(void **state)
{
	(void)state;
	wall_end();
	munmap((void *)(uintptr_t)f.start, PAGE); /* NOLINT: our own */
	close(f.fd);
	unlink(f.path);
	unlink(f.other);
	return 0;
}

static int look(uint32_t pid, const struct file_key *key, const char *path, struct file_id *ret_id)
{
	return wall_look(pid, key, f.start, f.end, path, ret_id);
}

/* The mapping speaks for itself, whatever has its name. Who may not follow the link goes by the name. */
static void a_mapping_of_a_process(void **state)
{
	const uint32_t pid = (uint32_t)getpid();
	struct file_key key = f.key;
	struct file_id id;

	(void)state;
	assert_int_equal(look(pid, &f.key, f.path, &id), 0);
	assert_true(file_id_equal(&id, &f.id));
	if (getuid() != 0)
		skip();
	assert_int_equal(look(pid, &f.key, f.other, &id), 0);
	assert_true(file_id_equal(&id, &f.id));
	assert_int_equal(unlink(f.path), 0);
	assert_int_equal(look(pid, &f.key, f.path, &id), 0);
	assert_int_equal(id.inode, f.id.inode);
	/* Where device numbers are others it is for who asks to say what that means. */
	key.minor++;
	assert_int_equal(look(pid, &key, f.path, &id), 0);
	/* What is mapped there now is another file. */
	key.inode++;
	assert_int_equal(look(pid, &key, f.path, &id), -ESTALE);
}

/* Its mapping is gone, the process is not: as that sees it. */
static void a_name_in_its_root(void **state)
{
	const uint32_t pid = (uint32_t)getpid();
	struct file_id id;

	(void)state;
	assert_int_equal(wall_look(pid, &f.key, 0x1000, 0x2000, f.path, &id), 0);
	assert_true(file_id_equal(&id, &f.id));
	assert_int_equal(wall_look(pid, &f.key, 0x1000, 0x2000, f.other, &id), -ESTALE);
	assert_int_equal(wall_look(pid, &f.key, 0x1000, 0x2000, "/no/such/file", &id), -ENOENT);
}

/* Its program, which another one has taken the name of. */
static void the_program_itself(void **state)
{
	struct file_key key;
	struct file_id own, id;
	struct stat st;
	int fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(file_id_read(fd, &own), 0);
	close(fd);
	key = (struct file_key){ major(st.st_dev), minor(st.st_dev), st.st_ino, 0 };
	assert_int_equal(wall_look((uint32_t)getpid(), &key, 0x1000, 0x2000, "/no/such/file", &id),
			 0);
	assert_true(file_id_equal(&id, &own));
}

/* Nobody is there to be asked: the path must lead to the very file. */
static void a_process_that_is_gone(void **state)
{
	struct file_key key = f.key;
	struct file_id id;

	(void)state;
	assert_int_equal(look(NO_PID, &f.key, f.path, &id), 0);
	assert_true(file_id_equal(&id, &f.id));
	key.minor++;
	assert_int_equal(look(NO_PID, &key, f.path, &id), -ESTALE);
	assert_int_equal(look(NO_PID, &f.key, f.other, &id), -ESTALE);
	unlink(f.path);
	assert_int_equal(look(NO_PID, &f.key, f.path, &id), -ENOENT);
}

struct told {
	unsigned int files, looked_at;
	struct file_id id;
};

static void note_mapping(const struct wall_mapping *mapping, const char *path, void *data)
{
	struct told *told = data;

	assert_true(mapping->inode || !mapping->looked_at);
	if (strcmp(path, f.path) != 0)
		return;
	told->files++;
	told->looked_at += mapping->looked_at;
	if (mapping->looked_at)
		told->id = mapping->file;
}

static struct told read_maps(unsigned int looks)
{
	struct told told = { 0 };
	uint64_t at = 0;
	char maps[64];
	int r;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", getpid());
	r = wall_read_maps((uint32_t)getpid(), maps, looks, &at, note_mapping, &told);

	if (r == -ENOTTY || getuid() != 0)
		skip();
	assert_int_equal(r, 0);
	return told;
}

/* So many as are asked for, however many calls that takes; the mappings are all told. */
static void with_all_mappings(void **state)
{
	uint64_t pages[MAPPINGS];
	struct told told;

	(void)state;
	for (int i = 0; i < MAPPINGS; i++)
		pages[i] = map_page(f.fd, PROT_READ | PROT_EXEC, (i & 1) * 2 * (off_t)PAGE);
	told = read_maps(0);
	assert_int_equal(told.files, MAPPINGS);
	assert_int_equal(told.looked_at, 0);
	told = read_maps(10000);
	assert_int_equal(told.files, MAPPINGS);
	assert_int_equal(told.looked_at, MAPPINGS);
	assert_true(file_id_equal(&told.id, &f.id));
	told = read_maps(MAPPINGS - 20);
	assert_int_equal(told.files, MAPPINGS);
	assert_true(told.looked_at <= MAPPINGS - 20 && told.looked_at > MAPPINGS / 2);
	for (int i = 0; i < MAPPINGS; i++)
		munmap((void *)(uintptr_t)pages[i], PAGE); /* NOLINT: our own */
}

#define TEST(fn)                                                  \
	cmocka_unit_test_setup_teardown(fn, in_place, tear_down), \
		cmocka_unit_test_setup_teardown(fn, with_wall, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_mapping_of_a_process), TEST(a_name_in_its_root), TEST(the_program_itself),
		TEST(a_process_that_is_gone), TEST(with_all_mappings),
	};

	return cmocka_run_group_tests_name("looks", tests, NULL, NULL);
}
