// SPDX-License-Identifier: Apache-2.0
/* Which file is chosen for a mapping: each way alone, and what is refused on it. */
#include "image_fixture.h"

#include <errno.h>
#include <sys/mman.h>

#include "elf/image_open.h"
#include "text_file.h"

#define NO_PID 0x7ffffff0U

static struct text_file content;

static char *path_in(const struct fixture *f, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	return path;
}

static struct file_key write_content(const struct fixture *f, const char *name)
{
	char *path = path_in(f, name);
	_cleanup_close_ int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0700);

	assert_int_equal(write(fd, &content, sizeof(content)), sizeof(content));
	return key_of(path);
}

static void expect_file(int fd, const struct file_key *key)
{
	_cleanup_close_ int own = fd;
	struct stat st;

	if (fd < 0)
		fail_msg("%s", strerror(-fd));
	assert_int_equal(fstat(own, &st), 0);
	assert_int_equal(st.st_ino, key->inode);
}

/* What a process has at START when it has mapped PAGES of the text; from no file, as far as the kernel knows. */
static unsigned char *map_text(size_t pages)
{
	unsigned char *start = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(start, MAP_FAILED);
	memcpy(start, content.pages, MIN(pages * PAGE, sizeof(content.pages)));
	return start;
}

/* The path leads to the file, and its inode is another one: only the text can say that it is this one. */
static int open_by_text(const struct fixture *f, const unsigned char *start, size_t pages)
{
	struct file_key key = key_of(path_in(f, "prog"));

	key.inode += 1000000;
	return image_open_file(&key, (uint32_t)getpid(), (uintptr_t)start,
			       (uintptr_t)start + pages * PAGE, path_in(f, "prog"));
}

static void by_its_inode_in_the_root_of_the_process(void **state)
{
	struct fixture *f = *state;
	struct file_key key, other_device;

	text_file_fill(&content);
	key = other_device = write_content(f, "prog");
	expect_file(image_open_file(&key, (uint32_t)getpid(), 1, 2, path_in(f, "prog")), &key);
	/* overlayfs: the kernel's records have another device */
	other_device.minor++;
	expect_file(image_open_file(&other_device, (uint32_t)getpid(), 1, 2, path_in(f, "prog")),
		    &key);
}

static void by_its_text(void **state)
{
	struct fixture *f = *state;
	unsigned char *start;
	struct text_file swapped;
	struct file_key key;

	text_file_fill(&content);
	key = write_content(f, "prog");
	start = map_text(TEXT_PAGES + 2);
	expect_file(open_by_text(f, start, TEXT_PAGES), &key);
	/* Its text may be the first segment, too. */
	swapped = content;
	swapped.data = content.text;
	swapped.text = content.data;
	content = swapped;
	key = write_content(f, "prog");
	/* The last page may be there or not. */
	expect_file(open_by_text(f, start, TEXT_PAGES), &key);
	expect_file(open_by_text(f, start, TEXT_PAGES + 1), &key);
	assert_int_equal(open_by_text(f, start, TEXT_PAGES - 1), -ESTALE);
	assert_int_equal(open_by_text(f, start, TEXT_PAGES + 2), -ESTALE);
	/* Of the last page nothing is asked. */
	memset(start + TEXT_PAGES * PAGE, 0, PAGE);
	expect_file(open_by_text(f, start, TEXT_PAGES + 1), &key);
	/* Not readable in the process */
	munmap(start + 2 * PAGE, PAGE);
	assert_int_equal(open_by_text(f, start, TEXT_PAGES), -ESTALE);
	munmap(start, (TEXT_PAGES + 2) * PAGE);
	assert_int_equal(open_by_text(f, start, TEXT_PAGES), -ESTALE);
}

/* Sixteen breakpoints in a page are ours or a debugger's; seventeen other bytes are other text. */
static void by_text_with_breakpoints(void **state)
{
	static const size_t asked[] = { 0, TEXT_PAGES / 2, TEXT_PAGES - 1 };
	struct fixture *f = *state;
	unsigned char *start;
	struct file_key key;

	text_file_fill(&content);
	key = write_content(f, "prog");
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		start = map_text(TEXT_PAGES);
		for (size_t n = 0; n < 16; n++)
			start[asked[i] * PAGE + n * 256] ^= 0xcc;
		expect_file(open_by_text(f, start, TEXT_PAGES), &key);
		start[asked[i] * PAGE + PAGE - 1] ^= 0xcc;
		assert_int_equal(open_by_text(f, start, TEXT_PAGES), -ESTALE);
		munmap(start, TEXT_PAGES * PAGE);
	}
}

/* Data is no text, and a segment below one page proves nothing. */
static void text_is_executable(void **state)
{
	struct fixture *f = *state;
	unsigned char *start;

	text_file_fill(&content);
	content.text.p_flags = PF_R | PF_W;
	write_content(f, "prog");
	start = map_text(TEXT_PAGES);
	assert_int_equal(open_by_text(f, start, TEXT_PAGES), -ESTALE);
	content.text.p_flags = PF_R | PF_X;
	content.text.p_offset = PAGE;
	content.text.p_filesz = content.text.p_memsz = PAGE;
	write_content(f, "prog");
	expect_file(open_by_text(f, start, 1),
		    &(struct file_key){ .inode = key_of(path_in(f, "prog")).inode });
	content.text.p_filesz = content.text.p_memsz = PAGE - 1;
	write_content(f, "prog");
	assert_int_equal(open_by_text(f, start, 1), -ESTALE);
	munmap(start, TEXT_PAGES * PAGE);
}

/* --- the kernel's own link to what is mapped --- */

struct mapped {
	void *start;
	struct file_key key;
};

static struct mapped map_file(const struct fixture *f, const char *name)
{
	_cleanup_close_ int fd = open(path_in(f, name), O_RDONLY | O_CLOEXEC);
	struct mapped mapped = { .key = key_of(path_in(f, name)) };

	mapped.start = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(mapped.start, MAP_FAILED);
	return mapped;
}

static int open_mapped(const struct mapped *mapped, const struct file_key *key, const char *path)
{
	return image_open_file(key, (uint32_t)getpid(), (uintptr_t)mapped->start,
			       (uintptr_t)mapped->start + PAGE, path);
}

/* Without CAP_CHECKPOINT_RESTORE nobody may follow these links. */
static void skip_without_map_files(const struct mapped *mapped)
{
	char link[96];
	int fd;

	snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx", (uintptr_t)mapped->start,
		 (uintptr_t)mapped->start + PAGE);
	fd = open(link, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		skip();
	close(fd);
}

static void a_mapped_file_that_was_replaced(void **state)
{
	struct fixture *f = *state;
	struct mapped mapped;
	struct file_key key;

	text_file_fill(&content);
	write_content(f, "prog");
	mapped = map_file(f, "prog");
	skip_without_map_files(&mapped);
	expect_file(open_mapped(&mapped, &mapped.key, path_in(f, "prog")), &mapped.key);
	assert_int_equal(unlink(path_in(f, "prog")), 0);
	expect_file(open_mapped(&mapped, &mapped.key, path_in(f, "prog (deleted)")), &mapped.key);
	write_content(f, "prog");
	expect_file(open_mapped(&mapped, &mapped.key, path_in(f, "prog")), &mapped.key);
	/* The kernel's records may name an inode that no stat() shows (overlayfs): then by its name. */
	key = mapped.key;
	key.inode += 1000000;
	expect_file(open_mapped(&mapped, &key, path_in(f, "prog")), &mapped.key);
	munmap(mapped.start, PAGE);
}

/* In that range is another file now: neither its inode nor its name is what was seen. */
static void a_range_that_another_file_has(void **state)
{
	static const char *const seen[] = { "pro", "prog2", "nothing" };
	struct fixture *f = *state;
	struct mapped mapped;
	struct file_key key;

	text_file_fill(&content);
	write_content(f, "prog");
	write_content(f, "prog2");
	mapped = map_file(f, "prog");
	skip_without_map_files(&mapped);
	key = mapped.key;
	key.inode += 1000000;
	for (size_t i = 0; i < ARRAY_SIZE(seen); i++)
		assert_int_equal(open_mapped(&mapped, &key, path_in(f, seen[i])), -ESTALE);
	/* Seen before was prog2: it is found by its name. */
	key = key_of(path_in(f, "prog2"));
	expect_file(open_mapped(&mapped, &key, path_in(f, "prog2")), &key);
	munmap(mapped.start, PAGE);
}

/* --- the rest --- */

static void the_program_of_the_process(void **state)
{
	struct file_key key = key_of("/proc/self/exe");

	(void)state;
	expect_file(image_open_file(&key, (uint32_t)getpid(), 1, 2, "/no/such/name"), &key);
	key.inode += 1000000;
	assert_int_equal(image_open_file(&key, (uint32_t)getpid(), 1, 2, "/no/such/name"), -ENOENT);
}

/* Nothing but inode and device tell then, and both must be right. */
static void a_process_that_is_gone(void **state)
{
	struct fixture *f = *state;
	struct file_key key, other;

	text_file_fill(&content);
	key = write_content(f, "prog");
	expect_file(image_open_file(&key, NO_PID, 1, 2, path_in(f, "prog")), &key);
	expect_file(image_open_file(&key, NO_PID, 1, 2, path_in(f, "prog (deleted)")), &key);
	other = key;
	other.inode++;
	assert_int_equal(image_open_file(&other, NO_PID, 1, 2, path_in(f, "prog")), -ESTALE);
	other = key;
	other.major++;
	assert_int_equal(image_open_file(&other, NO_PID, 1, 2, path_in(f, "prog")), -ESTALE);
	other = key;
	other.minor++;
	assert_int_equal(image_open_file(&other, NO_PID, 1, 2, path_in(f, "prog")), -ESTALE);
	assert_int_equal(image_open_file(&key, NO_PID, 1, 2, path_in(f, "gone")), -ENOENT);
}

/* A name may end in anything, and a file be called "(deleted)" alone. */
static void names_with_an_end(void **state)
{
	struct fixture *f = *state;
	struct file_key key;

	text_file_fill(&content);
	key = write_content(f, "x (deleted)");
	assert_int_equal(image_open_file(&key, NO_PID, 1, 2, path_in(f, "x (deleted)")), -ENOENT);
	key = write_content(f, "prog (deleted)x");
	expect_file(image_open_file(&key, NO_PID, 1, 2, path_in(f, "prog (deleted)x")), &key);
	assert_true(image_open_file(&key, NO_PID, 1, 2, " (deleted)") < 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(by_its_inode_in_the_root_of_the_process),
		TEST(by_its_text),
		TEST(by_text_with_breakpoints),
		TEST(text_is_executable),
		TEST(a_mapped_file_that_was_replaced),
		TEST(a_range_that_another_file_has),
		TEST(the_program_of_the_process),
		TEST(a_process_that_is_gone),
		TEST(names_with_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
