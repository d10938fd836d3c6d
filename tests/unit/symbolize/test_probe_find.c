// SPDX-License-Identifier: Apache-2.0
/* Where a probe is put: this test's own functions, and the libraries that it maps. */
#include "test.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "symbolize/probe_find.h"
#include "workloads/usdt.h"

int probe_test_function(int x);

__attribute__((noinline)) int probe_test_function(int x)
{
	__asm__ volatile("");
	return x * 3;
}

USDT_BASE;
USDT_SEMAPHORE(probe_test_semaphore);
void probe_test_places(void);

/* Two places of one probe, and one that says that its semaphore is in the code. */
__attribute__((noinline)) void probe_test_places(void)
{
	__asm__ volatile(".globl probe_test_first\nprobe_test_first:");
	USDT_PROBE("own", "place", "probe_test_semaphore");
	__asm__ volatile(".globl probe_test_second\nprobe_test_second:");
	USDT_PROBE("own", "place", "0");
	USDT_PROBE("own", "lies", "probe_test_first");
}

extern const char probe_test_first[], probe_test_second[];

static uint32_t own_pid;

static int setup(void **state)
{
	(void)state;
	own_pid = (uint32_t)getpid();
	return 0;
}

static int find(const char *library, const char *function, uint64_t plus, struct probe_place *place,
		struct err *err)
{
	const struct probe_request request = { .library = library,
					       .function = function,
					       .plus = plus,
					       .pids = &own_pid,
					       .pid_count = 1 };

	*err = (struct err){ 0 };
	return probe_find(&request, place, err);
}

static void expect_bytes_at(const struct probe_place *place, const void *code)
{
	_cleanup_close_ int fd = open(place->path, O_RDONLY | O_CLOEXEC);
	char bytes[16];

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, bytes, sizeof(bytes), (off_t)place->offset), sizeof(bytes));
	assert_memory_equal(bytes, code, sizeof(bytes));
}

/* By a path: a function of .symtab only. */
static void by_path(void **state)
{
	const char *code = (const char *)(uintptr_t)probe_test_function;
	struct probe_place place, behind;
	struct err err;

	(void)state;
	if (find("/proc/self/exe", "probe_test_function", 0, &place, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(place.path, "/proc/self/exe");
	expect_bytes_at(&place, code);
	assert_int_equal(find("/proc/self/exe", "probe_test_function", 4, &behind, &err), 0);
	assert_int_equal(behind.offset, place.offset + 4);
}

/* By file name: the library that is mapped here. Of a function that nobody probes meanwhile, as malloc() may be. */
static void by_file_name(void **state)
{
	void *symbol = dlsym(RTLD_DEFAULT, "lsearch");
	struct probe_place place;
	Dl_info info;
	struct err err;

	(void)state;
	assert_true(symbol && dladdr(symbol, &info));
	if (find("libc.so.6", "lsearch", 0, &place, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(strrchr(place.path, '/'), "/libc.so.6");
	expect_bytes_at(&place, symbol);
}

/* A copy of FROM at PATH that is mapped as code, and GONE from its path or not; where it is mapped. */
static void *map_copy(const char *from, const char *path, bool gone)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	void *at;

	assert_true(fd >= 0);
	assert_int_equal(file_read(from, 64 << 20, &bytes), 0);
	assert_int_equal(file_write_all(fd, bytes.buf, bytes.len), 0);
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	if (gone)
		unlink(path);
	return at;
}

static const char *libc_path(void)
{
	static Dl_info info;

	assert_true(dladdr(dlsym(RTLD_DEFAULT, "malloc"), &info));
	return info.dli_fname;
}

/* A file that has another name than its soname, and is not at its path any more. */
static void by_soname(void **state)
{
	char dir[] = "/tmp/probe-find-XXXXXX", path[64];
	struct probe_place place;
	struct err err;
	Dl_info info;
	void *libz = dlopen("libz.so.1", RTLD_NOW), *crc32, *at;

	(void)state;
	crc32 = libz ? dlsym(libz, "crc32") : NULL;
	assert_true(crc32 && dladdr(crc32, &info));
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/other.so", dir);
	/* Its own file is found in two ways, since it has its version in its name. */
	if (find("libz.so.1", "crc32", 0, &place, &err) < 0)
		fail_msg("%s", err.text);
	expect_bytes_at(&place, crc32);
	at = map_copy(info.dli_fname, path, true);
	rmdir(dir);
	assert_int_equal(find("other.so (deleted)", "crc32", 0, &place, &err), 0);
	assert_non_null(strstr(place.path, "/map_files/"));
	expect_bytes_at(&place, crc32);
	munmap(at, 4096);
}

/* Two files of one name. */
static void two_of_one_name(void **state)
{
	char dir[] = "/tmp/probe-find-XXXXXX", path[64];
	struct probe_place place;
	struct err err;
	void *at;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/libc.so.6", dir);
	at = map_copy(libc_path(), path, false);
	assert_int_equal(find("libc.so.6", "malloc", 0, &place, &err), -EINVAL);
	assert_non_null(strstr(err.text, "2 different files"));
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.hint, "give a path"));
	munmap(at, 4096);
	unlink(path);
	assert_int_equal(find("libc.so.6", "malloc", 0, &place, &err), 0);
	rmdir(dir);
}

static void what_is_not_there(void **state)
{
	struct probe_place place;
	struct err err;

	(void)state;
	assert_int_equal(find("libnowhere.so.3", "f", 0, &place, &err), -ENOENT);
	assert_non_null(
		strstr(err.text, "no chosen process maps a library or program 'libnowhere.so.3'"));
	assert_non_null(strstr(err.hint, "path"));
	assert_int_equal(find("/nowhere/x.so", "f", 0, &place, &err), -ENOENT);
	assert_int_equal(find("/proc/self/exe", "no_such_function", 0, &place, &err), -ENOENT);
	assert_non_null(strstr(err.text, "has no function 'no_such_function'"));
	assert_non_null(strstr(err.hint, "debug file"));
	assert_int_equal(find("/etc/passwd", "f", 0, &place, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "no ELF file"));
}

/* What is chosen when it is loaded is not one function. */
static void chosen_late(void **state)
{
	struct probe_place place;
	struct err err;

	(void)state;
	assert_int_equal(find("libc.so.6", "memcpy", 0, &place, &err), -EINVAL);
	assert_non_null(strstr(err.text, "chooses among several functions 'memcpy'"));
}

/* Behind the end of the file's code. */
static void outside_of_code(void **state)
{
	struct probe_place place;
	struct err err;

	(void)state;
	assert_int_equal(find("/proc/self/exe", "probe_test_function", 1ULL << 40, &place, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "is not in its code"));
}

/* A copy of FROM at PATH whose code is said to lie BYTES further in the file, at the same addresses. */
static void copy_shifted(const char *from, const char *path, uint64_t bytes)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	Elf64_Ehdr header;

	assert_true(fd >= 0);
	assert_int_equal(file_read(from, 64 << 20, &text), 0);
	memcpy(&header, text.buf, sizeof(header));
	for (size_t i = 0; i < header.e_phnum; i++) {
		char *at = text.buf + header.e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr segment;

		memcpy(&segment, at, sizeof(segment));
		if (segment.p_type == PT_LOAD && segment.p_flags & PF_X)
			segment.p_offset += bytes;
		memcpy(at, &segment, sizeof(segment));
	}
	assert_int_equal(file_write_all(fd, text.buf, text.len), 0);
}

/* A function's address is not its place in the file. */
static void addresses_are_no_offsets(void **state)
{
	char path[] = "/tmp/probe-find-XXXXXX";
	struct probe_place place, other;
	struct err err;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	copy_shifted("/proc/self/exe", path, 0x3000);
	assert_int_equal(find("/proc/self/exe", "probe_test_function", 0, &place, &err), 0);
	if (find(path, "probe_test_function", 0, &other, &err) < 0)
		fail_msg("%s", err.text);
	unlink(path);
	assert_int_equal(other.offset, place.offset + 0x3000);
}

static int find_usdt(const char *library, const char *name, struct probe_usdt *usdt,
		     struct err *err)
{
	const struct probe_request request = {
		.library = library, .function = name, .pids = &own_pid, .pid_count = 1
	};

	*err = (struct err){ 0 };
	return probe_find_usdt(&request, "own", usdt, err);
}

/* What is at OFFSET of this program's file is at AT in memory. */
static bool is_at(uint64_t offset, const volatile void *at)
{
	const struct probe_place place = { .path = "/proc/self/exe", .offset = offset };
	_cleanup_close_ int fd = open(place.path, O_RDONLY | O_CLOEXEC);
	char bytes[8];

	return fd >= 0 && pread(fd, bytes, sizeof(bytes), (off_t)offset) == sizeof(bytes) &&
	       memcmp(bytes, (const void *)(uintptr_t)at, sizeof(bytes)) == 0;
}

static void usdt_places(void **state)
{
	struct probe_place place;
	struct probe_usdt usdt;
	struct err err;

	(void)state;
	if (find_usdt("/proc/self/exe", "place", &usdt, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(usdt.count, 2);
	assert_string_equal(usdt.path, "/proc/self/exe");
	assert_true(is_at(usdt.places[0].offset, probe_test_first));
	assert_int_equal(usdt.places[1].offset - usdt.places[0].offset,
			 probe_test_second - probe_test_first);
	assert_int_equal(find("/proc/self/exe", "probe_test_places", 0, &place, &err), 0);
	assert_true(usdt.places[0].offset >= place.offset &&
		    usdt.places[0].offset < place.offset + 64);
	assert_true(usdt.places[0].semaphore > 0);
	probe_test_semaphore = 0;
	assert_true(usdt.places[0].semaphore != usdt.places[0].offset);
	assert_int_equal(usdt.places[1].semaphore, 0);
}

static void no_usdt_places(void **state)
{
	struct probe_usdt usdt;
	struct err err;

	(void)state;
	assert_int_equal(find_usdt("/proc/self/exe", "nothing", &usdt, &err), -ENOENT);
	assert_non_null(strstr(err.text, "has no probe 'own:nothing'"));
	assert_int_equal(find_usdt("libz.so.77", "place", &usdt, &err), -ENOENT);
	assert_int_equal(find_usdt("/proc/self/exe", "lies", &usdt, &err), -EINVAL);
	assert_non_null(strstr(err.text, "the semaphore of 'lies' is not in its data"));
	assert_int_equal(find_usdt("/etc/passwd", "place", &usdt, &err), -EBADMSG);
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(by_path),		 TEST(by_file_name),
		TEST(by_soname),	 TEST(two_of_one_name),
		TEST(what_is_not_there), TEST(chosen_late),
		TEST(outside_of_code),	 TEST(addresses_are_no_offsets),
		TEST(usdt_places),	 TEST(no_usdt_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
