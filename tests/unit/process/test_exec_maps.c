// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "process/exec_maps.h"
#include "process/proc.h"

static void print_one(const struct exec_map *map, void *data)
{
	const struct mapping *m = &map->m;

	strbuf_addf(data, "%llx-%llx %c %llx %x:%x %llu '%s'\n", (unsigned long long)m->start,
		    (unsigned long long)m->end, map->writable ? 'w' : '-',
		    (unsigned long long)m->pgoff, m->key.major, m->key.minor,
		    (unsigned long long)m->key.inode, m->path);
}

/* What the text of FD says, from its beginning. */
static int print_text(int fd, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = file_read_fd(fd, 64UL << 20, &text);

	exec_maps_parse(0, strbuf_str(&text), text.len, print_one, out);
	return r;
}

static int open_maps(uint32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int query(uint32_t pid, uint64_t at, struct strbuf *out)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	return exec_maps_query(pid, path, 0, &at, print_one, out);
}

static bool have_query(void)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	return query((uint32_t)getpid(), 0, &out) != -ENOTTY;
}

/* A newline in a path is printed as an escape; the vsyscall page is nobody's mapping. */
static void the_text(void **state)
{
	static const char text[] = "1000-2000 r--p 00000000 08:01 5 /bin/x\n"
				   "2000-3000 r-xp 00001000 08:01 5 /bin/x\\012y\n"
				   "3000-4000 rwxp 00000000 00:00 0 \n"
				   "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 "
				   "[vsyscall]\n";
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	(void)state;
	exec_maps_parse(0, text, strlen(text), print_one, &out);
	assert_string_equal(strbuf_str(&out), "2000-3000 - 1000 8:1 5 '/bin/x\ny'\n"
					      "3000-4000 w 0 0:0 0 ''\n");
}

/* Code of every kind: of a file with a newline in its name, removed, of no file, writable. */
static void map_all_kinds(void)
{
	char path[] = "/tmp/hostprof maps\nXXXXXX";
	int file = mkstemp(path), memory = memfd_create("code", MFD_CLOEXEC);

	assert_true(file >= 0 && memory >= 0);
	assert_int_equal(ftruncate(file, 4 * 4096), 0);
	assert_int_equal(ftruncate(memory, 4096), 0);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 2 * 4096);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, memory, 0);
	mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mmap(NULL, 4096, PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unlink(path);
	close(file);
	close(memory);
}

static void query_and_text_of_this_process(void **state)
{
	_cleanup_strbuf_ struct strbuf queried = STRBUF_INIT, parsed = STRBUF_INIT;
	_cleanup_close_ int fd = -1;

	(void)state;
	if (!have_query())
		skip();
	map_all_kinds();
	strbuf_grow(&queried, 1 << 16); /* no new mappings between the two */
	strbuf_grow(&parsed, 1 << 16);
	fd = open_maps((uint32_t)getpid());
	assert_int_equal(query((uint32_t)getpid(), 0, &queried), 0);
	assert_int_equal(print_text(fd, &parsed), 0);
	assert_string_equal(strbuf_str(&queried), strbuf_str(&parsed));
	assert_non_null(strstr(strbuf_str(&queried), " - 2000 "));
	assert_non_null(strstr(strbuf_str(&queried), "/tmp/hostprof maps\n"));
	assert_non_null(strstr(strbuf_str(&queried), "'/memfd:code (deleted)'"));
	assert_non_null(strstr(strbuf_str(&queried), " w 0 0:0 0 ''"));
	assert_non_null(strstr(strbuf_str(&queried), "'/dev/zero (deleted)'"));
	assert_non_null(strstr(strbuf_str(&queried), "'[vdso]'"));
	assert_non_null(strstr(strbuf_str(&queried), "test_exec_maps'"));
}

struct comparison {
	int processes, mappings;
};

/* A process may map or unmap something in between: then they must agree at another time. */
static int compare_one(uint32_t pid, void *data)
{
	struct comparison *comparison = data;

	for (int i = 0; i < 20; i++) {
		_cleanup_strbuf_ struct strbuf queried = STRBUF_INIT, parsed = STRBUF_INIT;
		_cleanup_close_ int fd = open_maps(pid);

		if (fd < 0 || query(pid, 0, &queried) < 0 || print_text(fd, &parsed) < 0)
			return 0;
		if (strcmp(strbuf_str(&queried), strbuf_str(&parsed)) != 0)
			continue;
		comparison->processes++;
		for (size_t c = 0; c < queried.len; c++)
			comparison->mappings += queried.buf[c] == '\n';
		return 0;
	}
	fail_msg("process %u: query and text differ", pid);
	return 0;
}

/* As root of the whole host, else of the own processes. */
static void query_and_text_of_every_process(void **state)
{
	struct comparison comparison = { 0 };

	(void)state;
	if (!have_query())
		skip();
	assert_int_equal(proc_for_each_pid(compare_one, &comparison), 0);
	print_message("%d processes, %d mappings\n", comparison.processes, comparison.mappings);
	assert_true(comparison.processes >= 1);
	assert_true(comparison.mappings >= 4);
}

static void a_query_goes_on_from_an_address(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	uint64_t at = (uintptr_t)a_query_goes_on_from_an_address + 65536 * 16;

	(void)state;
	if (!have_query())
		skip();
	assert_int_equal(query((uint32_t)getpid(), at, &out), 0);
	assert_null(strstr(strbuf_str(&out), "test_exec_maps'"));
	assert_non_null(strstr(strbuf_str(&out), "[vdso]"));
}

/* A maps file that does not know the query, here any file. */
static void without_the_query_it_is_the_text(void **state)
{
	static const char text[] = "2000-3000 r-xp 00001000 08:01 5 /bin/x\n";
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	char path[] = "/tmp/hostprof-maps-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(exec_maps_read((uint32_t)getpid(), path, print_one, &out), 0);
	unlink(path);
	assert_string_equal(strbuf_str(&out), "2000-3000 - 1000 8:1 5 '/bin/x'\n");
	assert_int_equal(exec_maps_read((uint32_t)getpid(), path, print_one, &out), -ENOENT);
}

static void who_has_no_memory(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	pid_t child = fork();
	siginfo_t info;
	char path[64];

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	snprintf(path, sizeof(path), "/proc/%d/maps", child);
	assert_true(exec_maps_read((uint32_t)getpid(), path, print_one, &out) == 0 ||
		    getuid() != 0);
	assert_int_equal(out.len, 0);
	waitpid(child, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text),
		cmocka_unit_test(query_and_text_of_this_process),
		cmocka_unit_test(query_and_text_of_every_process),
		cmocka_unit_test(a_query_goes_on_from_an_address),
		cmocka_unit_test(without_the_query_it_is_the_text),
		cmocka_unit_test(who_has_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
