/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/layout/alloc_tracer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "elf/debug/debug_file.h"

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

enum { IS_NEW_TLAB, IS_NEW_TLAB_8, IS_OUTSIDE_TLAB, IS_OUTSIDE_TLAB_8, IS_OLD, NAME_COUNT };

static const char *const names[NAME_COUNT] = {
	[IS_NEW_TLAB] = NEW_TLAB,	  [IS_NEW_TLAB_8] = NEW_TLAB_8,
	[IS_OUTSIDE_TLAB] = OUTSIDE_TLAB, [IS_OUTSIDE_TLAB_8] = OUTSIDE_TLAB_8,
	[IS_OLD] = NEW_TLAB_OLD,
};

static uint64_t either(uint64_t a, uint64_t b)
{
	if (a != READER_NOT_THERE)
		return a;
	return b != READER_NOT_THERE ? b : 0;
}

static void search_file(int fd, struct search *search)
{
	uint64_t addresses[NAME_COUNT];
	struct err ignored;

	if (reader_find(fd, READER_FIND_FUNCTION, names, NAME_COUNT, addresses, &ignored) < 0)
		return;
	search->new_tlab = either(addresses[IS_NEW_TLAB], addresses[IS_NEW_TLAB_8]);
	search->outside_tlab = either(addresses[IS_OUTSIDE_TLAB], addresses[IS_OUTSIDE_TLAB_8]);
	search->old = addresses[IS_OLD] != READER_NOT_THERE;
}

/* In the library, else in its debug file. */
static void search_symbols(const struct libjvm *lib, uint32_t pid, const char *path,
			   struct search *search)
{
	_cleanup_close_ int fd = -1;

	search_file(lib->fd, search);
	if (search->new_tlab || search->old)
		return;
	fd = debug_file_open(&lib->file.link, NULL, pid, path);
	if (fd >= 0)
		search_file(fd, search);
}

static int say_no_symbols(const struct libjvm *lib, uint32_t pid, const char *path,
			  uint32_t feature, struct err *err)
{
	const char *build_id = lib->file.link.build_id;

	err_set(err, -ENODATA, "%s of process %u has no symbols to see allocations by", path, pid);
	if (feature && build_id[0])
		return err_hint(err,
				"install its debug symbols (Debian: openjdk-%u-dbg), build id %s",
				feature, build_id);
	return err_hint(err, "install its debug symbols, build id %s",
			build_id[0] ? build_id : "unknown");
}

/* The offset in the file of the code at ADDRESS, past endbr64. */
static int place_in_file(const struct libjvm *lib, uint64_t address, uint64_t *ret_offset)
{
	unsigned char bytes[sizeof(endbr64)];
	const struct elf_segment *segment = elf_segment_find(
		lib->file.segments.items, lib->file.segments.len, ELF_SEGMENT_ANY, address);
	uint64_t offset;

	if (!segment)
		return -EBADMSG;
	offset = elf_segment_offset(segment, address);
	if (pread(lib->fd, bytes, sizeof(bytes), (off_t)offset) != (ssize_t)sizeof(bytes))
		return -EBADMSG;
	*ret_offset = offset + (memcmp(bytes, endbr64, sizeof(bytes)) ? 0 : sizeof(endbr64));
	return 0;
}

int alloc_tracer_find(const struct libjvm *lib, uint32_t pid, const char *path, uint32_t feature,
		      struct alloc_tracer *ret_tracer, struct err *err)
{
	struct search search = { 0 };
	struct alloc_tracer tracer;

	search_symbols(lib, pid, path, &search);
	if (search.old) {
		err_set(err, -EOPNOTSUPP, "the JVM of process %u cannot show allocations", pid);
		return err_hint(err, "they are seen from 8u262 on");
	}
	if (!search.new_tlab || !search.outside_tlab)
		return say_no_symbols(lib, pid, path, feature, err);
	if (place_in_file(lib, search.new_tlab, &tracer.new_tlab) < 0 ||
	    place_in_file(lib, search.outside_tlab, &tracer.outside_tlab) < 0)
		return err_set(err, -EBADMSG, "%s of process %u is not the file of its symbols",
			       path, pid);
	*ret_tracer = tracer;
	return 0;
}
