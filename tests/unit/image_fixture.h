/* SPDX-License-Identifier: Apache-2.0 */
/* An image cache, and a directory to make files in; copies of this program have known symbols. */
#ifndef HOSTPROF_TESTS_IMAGE_FIXTURE_H
#define HOSTPROF_TESTS_IMAGE_FIXTURE_H

#include "test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "elf/elf_file.h"
#include "elf/image.h"

/* Only .symtab knows it. */
static __attribute__((noinline, used)) int image_test_local(int x)
{
	__asm__ volatile("");
	return x + 1;
}

struct fixture {
	struct worker_pool *pool;
	struct image_cache *cache;
	char dir[64];
	uint64_t local_address; /* the file's own address of image_test_local() */
};

static inline uint64_t own_symbol(const char *name)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct err err;
	uint64_t address = 0;

	elf_file_open(fd, &file, &err);
	elf_file_find_symbol(file, name, &address);
	elf_file_close(TAKE_PTR(file));
	return address;
}

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct err err;

	*state = f;
	strcpy(f->dir, "/tmp/hostprof-image-XXXXXX");
	f->local_address = own_symbol("image_test_local");
	if (!mkdtemp(f->dir) || worker_pool_new(1, &f->pool, &err) < 0)
		return -1;
	f->cache = image_cache_new(f->pool);
	return image_test_local(1) == 2 ? 0 : -1;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	image_cache_free(f->cache);
	worker_pool_free(f->pool);
	snprintf(command, sizeof(command), "rm -r '%s'", f->dir);
	if (system(command) != 0)
		return -1;
	free(f);
	return 0;
}

/* Run a shell command in the test's directory; false when it fails (a tool is missing). */
static inline bool run(struct fixture *f, const char *command)
{
	char text[1024];

	snprintf(text, sizeof(text), "cd '%s' && { %s; } >/dev/null 2>&1", f->dir, command);
	return system(text) == 0;
}

static inline void copy_self(struct fixture *f, const char *name)
{
	char command[128];

	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", getpid(), name);
	assert_true(run(f, command));
}

static inline struct file_key key_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (struct file_key){ .major = major(st.st_dev),
				  .minor = minor(st.st_dev),
				  .inode = st.st_ino };
}

/* Open NAME of the directory as if this process mapped it somewhere. */
static inline struct image *open_named(struct fixture *f, const char *name)
{
	struct file_key key;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	key = key_of(path);
	return image_cache_open(f->cache, &key, (uint32_t)getpid(), 0x1000, 0x2000, path);
}

/* Until its parsing has ended. */
static inline void wait_for(struct fixture *f, struct image *image)
{
	image_load(f->cache, image);
	worker_pool_drain(f->pool);
}

static inline const char *local_name(struct fixture *f, struct image *image)
{
	struct elf_symbol symbol;

	wait_for(f, image);
	if (image_state(image) == IMAGE_FAILED)
		fail_msg("%s", image_failure(image));
	return image_find_symbol(image, f->local_address, &symbol) ? symbol.name : "";
}

#endif
