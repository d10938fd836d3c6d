/* SPDX-License-Identifier: Apache-2.0 */
/* What a session asks of libbpf and of the preflight, noted; what they answer is the test's. Included once per test. */
#ifndef HOSTPROF_TESTS_FAKE_LIBBPF_H
#define HOSTPROF_TESTS_FAKE_LIBBPF_H

#include "test.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "capture/bpf_session.h"
#include "capture/kernel/kernel_types.h"
#include "capture/kernel/program_loads.h"
#include "capture/preflight/preflight.h"
#include "capture/table_sizes.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "hostprof.skel.h"
#pragma GCC diagnostic pop

#define CPUS		    6
#define RINGS_FD	    40
#define VALUE_BYTES	    2000000 /* of miss_buffers as it was compiled */
#define FIRST_FD	    500
#define MAX_MAPS	    32
#define MAX_ENTRIES_OF(map) (1000 + (uint32_t)map_number(map))

static struct {
	libbpf_print_fn_t print;
	struct bpf_object_skeleton *skeleton;
	struct hostprof_bpf__rodata rodata;
	struct hostprof_bpf__bss bss;
	struct strbuf log;
	int open_error, types_error, reuse_error, load_error, attach_error, preflight_error,
		info_error;
	const char *warnings[4];
	bool destroyed;
	int real_fd; /* of two maps */
	uint64_t misses;
	int iterator; /* negative: there is none */
	struct wire_process found;
	int run_error;
	bool loads_beside; /* program_loads.h works here */
	int beside_error;
	unsigned int beside; /* how many of its are there */
	unsigned int beside_cpus;
} f;

/* --- in place of libbpf and the preflight --- */

/* A map is its number, from 1 on; so is a program, in thousands. */
static size_t map_number(const struct bpf_map *map)
{
	return (size_t)map;
}

static const char *map_name(const struct bpf_map *map)
{
	return f.skeleton->maps[map_number(map) - 1].name;
}

static void warn(enum libbpf_print_level level, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	f.print(level, format, ap);
	va_end(ap);
}

static int end_with(int error)
{
	for (int i = 0; i < 4 && f.warnings[i]; i++)
		warn(LIBBPF_WARN, "%s", f.warnings[i]);
	warn(LIBBPF_INFO, "libbpf: %s", "no warning\n");
	return error;
}

int bpf_object__open_skeleton(struct bpf_object_skeleton *s,
			      const struct bpf_object_open_opts *opts)
{
	strbuf_addf(&f.log, "open, types by %s\n",
		    opts && opts->btf_custom_path ? "ours" : "libbpf");
	f.skeleton = s;
	if (f.open_error)
		return end_with(f.open_error);
	*s->obj = (struct bpf_object *)0x10;
	for (int i = 0; i < s->map_cnt; i++) {
		*s->maps[i].map = (struct bpf_map *)(size_t)(i + 1);
		if (!strcmp(s->maps[i].name, "hostprof.rodata"))
			*s->maps[i].mmaped = &f.rodata;
		if (!strcmp(s->maps[i].name, "hostprof.bss"))
			*s->maps[i].mmaped = &f.bss;
	}
	for (int i = 0; i < s->prog_cnt; i++)
		*s->progs[i].prog = (struct bpf_program *)(size_t)(i * 1000 + 1000);
	return 0;
}

struct btf *bpf_object__btf(const struct bpf_object *obj)
{
	return (struct btf *)((size_t)obj + 1);
}

int kernel_types_write(const struct btf *wanted, int fd)
{
	assert_ptr_equal(wanted, 0x11);
	strbuf_addf(&f.log, "types %d\n", write(fd, "types", 5) == 5 ? f.types_error : -EIO);
	return f.types_error;
}

int bpf_object__load_skeleton(struct bpf_object_skeleton *s)
{
	(void)s;
	strbuf_addstr(&f.log, "load\n");
	return f.load_error ? end_with(f.load_error) : 0;
}

int bpf_object__attach_skeleton(struct bpf_object_skeleton *s)
{
	(void)s;
	strbuf_addstr(&f.log, "attach\n");
	return f.attach_error ? end_with(f.attach_error) : 0;
}

void bpf_object__destroy_skeleton(struct bpf_object_skeleton *s)
{
	if (!s)
		return;
	f.destroyed = true;
	free(s->maps);
	free(s->progs);
	free(s);
}

libbpf_print_fn_t libbpf_set_print(libbpf_print_fn_t fn)
{
	f.print = fn;
	return NULL;
}

int bpf_map__reuse_fd(struct bpf_map *map, int fd)
{
	strbuf_addf(&f.log, "%s: is %d\n", map_name(map), fd);
	return f.reuse_error;
}

int bpf_map__set_max_entries(struct bpf_map *map, __u32 max_entries)
{
	strbuf_addf(&f.log, "%s: %u entries\n", map_name(map), max_entries);
	return 0;
}

__u32 bpf_map__max_entries(const struct bpf_map *map)
{
	return MAX_ENTRIES_OF(map);
}

int bpf_map__set_value_size(struct bpf_map *map, __u32 size)
{
	strbuf_addf(&f.log, "%s: values of %u\n", map_name(map), size);
	return 0;
}

__u32 bpf_map__value_size(const struct bpf_map *map)
{
	assert_string_equal(map_name(map), "miss_buffers");
	return VALUE_BYTES;
}

int bpf_map__fd(const struct bpf_map *map)
{
	if (f.real_fd)
		return map_number(map) <= 2 ? f.real_fd : -1;
	return FIRST_FD + (int)map_number(map);
}

struct bpf_map *bpf_object__next_map(const struct bpf_object *obj, const struct bpf_map *map)
{
	assert_ptr_equal(obj, (struct bpf_object *)0x10);
	if (map && (int)map_number(map) == f.skeleton->map_cnt)
		return NULL;
	return (struct bpf_map *)(map ? map_number(map) + 1 : 1);
}

int bpf_program__set_expected_attach_type(struct bpf_program *prog, enum bpf_attach_type type)
{
	strbuf_addf(&f.log, "%s of %d\n", f.skeleton->progs[(size_t)prog / 1000 - 1].name,
		    (int)type);
	return 0;
}

int bpf_program__set_autoload(struct bpf_program *prog, bool autoload)
{
	strbuf_addf(&f.log, "%s %d\n", f.skeleton->progs[(size_t)prog / 1000 - 1].name, autoload);
	return 0;
}

int bpf_program__fd(const struct bpf_program *prog)
{
	return (int)(size_t)prog;
}

struct program_loads *program_loads_begin(unsigned int cpus)
{
	f.beside_cpus = cpus;
	f.beside += f.loads_beside;
	return f.loads_beside ? (struct program_loads *)&f : NULL;
}

int program_loads_end(struct program_loads *loads)
{
	return loads ? f.beside_error : 0;
}

int program_loads_fd(const struct program_loads *loads, const struct bpf_program *program)
{
	return bpf_program__fd(program) + (loads ? 7 : 0);
}

void program_loads_free(struct program_loads *loads)
{
	f.beside -= loads != NULL;
}

int bpf_prog_test_run_opts(int prog_fd, struct bpf_test_run_opts *opts)
{
	const uint64_t *args = opts->ctx_in;

	assert_string_equal(f.skeleton->progs[prog_fd / 1000 - 1].name, "find_process");
	assert_int_equal(opts->ctx_size_in, sizeof(args[0]));
	f.bss.found_process = (struct wire_process){ 0 };
	if (args[0] == f.found.tgid)
		f.bss.found_process = f.found;
	return f.run_error;
}

int bpf_link__fd(const struct bpf_link *link)
{
	assert_null(link); /* nothing was attached */
	return 44;
}

int bpf_iter_create(int link_fd)
{
	assert_int_equal(link_fd, 44);
	errno = EPERM;
	return f.iterator;
}

int bpf_obj_get_info_by_fd(int fd, void *info, __u32 *len)
{
	struct bpf_prog_info *told = info;

	assert_int_equal(*len, sizeof(*told));
	assert_int_equal(fd % 1000, 0);
	if (fd != 1000)
		told->recursion_misses = f.misses;
	told->run_time_ns = 4321;
	told->run_cnt = 17;
	return f.info_error;
}

int preflight_explain(struct err *err)
{
	if (!f.preflight_error)
		return 0;
	err_set(err, f.preflight_error, "cap_bpf is missing");
	return err_hint(err, "be root");
}

#endif
