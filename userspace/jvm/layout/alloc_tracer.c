/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/layout/alloc_tracer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "elf/debug_file.h"

static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* JDK 11 and later, JDK 8 from 8u262 on, and what 8 had before: it tells of no thread. */
#define NEW_TLAB     "_ZN11AllocTracer27send_allocation_in_new_tlabEP5Klass"
#define OUTSIDE_TLAB "_ZN11AllocTracer28send_allocation_outside_tlabEP5Klass"
#define NEW_TLAB_8   "_ZN11AllocTracer33send_allocation_in_new_tlab_eventE11KlassHandleP8HeapWord"
#define OUTSIDE_TLAB_8 \
	"_ZN11AllocTracer34send_allocation_outside_tlab_eventE11KlassHandleP8HeapWord"
#define NEW_TLAB_OLD "_ZN11AllocTracer33send_allocation_in_new_tlab_eventE11KlassHandlem"

struct search {
	uint64_t new_tlab, outside_tlab; /* addresses; 0: not found */
	bool old;
};

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static void note_function(const char *name, uint64_t address, uint64_t size, void *data)
{
	struct search *search = data;

	(void)size;
	if (!begins(name, "_ZN11AllocTracer"))
		return;
	if (begins(name, NEW_TLAB) || begins(name, NEW_TLAB_8))
		search->new_tlab = address;
	else if (begins(name, OUTSIDE_TLAB) || begins(name, OUTSIDE_TLAB_8))
		search->outside_tlab = address;
	else if (begins(name, NEW_TLAB_OLD))
		search->old = true;
}

/* In the library, else in its debug file. */
static void search_symbols(struct elf_file *file, uint32_t pid, const char *path,
			   struct search *search)
{
	_cleanup_(elf_file_closep) struct elf_file *debug = NULL;
	_cleanup_close_ int fd = -1;
	struct err ignored = { 0 };
	struct debug_link link;

	elf_file_for_each_function(file, note_function, search);
	if (search->new_tlab || search->old)
		return;
	elf_file_find_debug(file, &link);
	fd = debug_file_open(&link, NULL, pid, path);
	if (fd >= 0 && elf_file_open(fd, &debug, &ignored) == 0)
		elf_file_for_each_function(debug, note_function, search);
}

static int say_no_symbols(struct elf_file *file, uint32_t pid, const char *path, uint32_t feature,
			  struct err *err)
{
	char build_id[129] = "";

	if (elf_file_build_id(file, build_id, sizeof(build_id)) < 0)
		build_id[0] = 0;
	err_set(err, -ENODATA, "%s of process %u has no symbols to see allocations by", path, pid);
	if (feature && build_id[0])
		return err_hint(err,
				"install its debug symbols (Debian: openjdk-%u-dbg), build id %s",
				feature, build_id);
	return err_hint(err, "install its debug symbols, build id %s",
			build_id[0] ? build_id : "unknown");
}

/* The offset in the file of the code at ADDRESS, past endbr64. */
static int place_in_file(int fd, struct elf_file *file, uint64_t address, uint64_t *ret_offset)
{
	unsigned char bytes[sizeof(endbr64)];
	const struct elf_segment *segments;
	int n = elf_file_segments(file, &segments);

	for (int i = 0; i < n; i++) {
		const struct elf_segment *s = &segments[i];
		uint64_t offset;

		if (address < s->address || address - s->address >= s->file_size)
			continue;
		offset = address - s->address + s->offset;
		if (pread(fd, bytes, sizeof(bytes), (off_t)offset) != (ssize_t)sizeof(bytes))
			return -EBADMSG;
		*ret_offset =
			offset + (memcmp(bytes, endbr64, sizeof(bytes)) ? 0 : sizeof(endbr64));
		return 0;
	}
	return -EBADMSG;
}

int alloc_tracer_find(int fd, struct elf_file *file, uint32_t pid, const char *path,
		      uint32_t feature, struct alloc_tracer *ret_tracer, struct err *err)
{
	struct search search = { 0 };
	struct alloc_tracer tracer;

	search_symbols(file, pid, path, &search);
	if (search.old) {
		err_set(err, -EOPNOTSUPP, "the JVM of process %u cannot show allocations", pid);
		return err_hint(err, "they are seen from 8u262 on");
	}
	if (!search.new_tlab || !search.outside_tlab)
		return say_no_symbols(file, pid, path, feature, err);
	if (place_in_file(fd, file, search.new_tlab, &tracer.new_tlab) < 0 ||
	    place_in_file(fd, file, search.outside_tlab, &tracer.outside_tlab) < 0)
		return err_set(err, -EBADMSG, "%s of process %u is not the file of its symbols",
			       path, pid);
	*ret_tracer = tracer;
	return 0;
}
