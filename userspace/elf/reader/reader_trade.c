// SPDX-License-Identifier: Apache-2.0
#include "elf/reader/reader_trade.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "elf/demangle.h"
#include "elf/go/go_frames.h"
#include "elf/image_parse.h"
#include "elf/reader/reader_call.h"
#include "elf/reader/reader_rights.h"
#include "elf/reader/reader_serve_cfi.h"
#include "elf/reader/reader_serve_file.h"
#include "elf/reader/reader_serve_jit_dump.h"
#include "elf/reader/reader_serve_perf_map.h"

/* What is kept from one call to the next; in place each thread has its own. */
static __thread struct {
	struct image_parse parse;
	struct symbols symbols;
	bool has_image;
} kept;

static int64_t say(struct wall_call *call, const struct err *err)
{
	snprintf((char *)call->data, READER_TEXT_BYTES, "%s", err->text);
	return err->code;
}

/* Of a borrowed descriptor; a negative errno. */
static int own(int fd)
{
	int own_fd = fd < 0 ? -1 : dup(fd);

	return own_fd < 0 ? -EBADF : own_fd;
}

/* --- a file of code --------------------------------------------------------------------------- */

static int64_t image_drop(void)
{
	if (!kept.has_image)
		return 0;
	image_parse_release(&kept.parse);
	symbols_release(&kept.symbols);
	kept.has_image = false;
	malloc_trim(0);
	return 0;
}

static int64_t image_open(struct wall_call *call, int fd)
{
	struct reader_image *image = (void *)call->data;
	struct err err = { 0 };
	int own_fd = own(fd), r;

	image_drop();
	if (own_fd < 0)
		return own_fd;
	r = image_parse_open(&kept.parse, own_fd, call->len, &err);
	kept.symbols = (struct symbols){ .names = NULL };
	kept.has_image = true;
	if (r < 0) {
		image_drop();
		return say(call, &err);
	}
	elf_file_find_debug(kept.parse.file, &image->link);
	image_parse_own(&kept.parse);
	image->wants_debug = image_parse_wants_debug(&kept.parse);
	return sizeof(*image);
}

static int64_t image_end(struct wall_call *call)
{
	struct reader_symbols *answer = (void *)call->data;
	const struct elf_segment *unused;

	symbols_release(&kept.symbols);
	image_parse_end(&kept.parse, &kept.symbols);
	*answer = (struct reader_symbols){
		.segments = (uint64_t)elf_file_segments(kept.parse.file, &unused),
		.ranges = kept.symbols.ranges.len,
		.name_bytes = kept.symbols.name_bytes,
		.bounds = kept.symbols.bounds.v.len,
		.bounds_base = kept.symbols.bounds.base,
		.left_out = kept.parse.left_out,
		.left_out_bytes = kept.parse.left_out_bytes,
		.go = kept.parse.go,
		.far = kept.symbols.far,
		.far_in_debug = kept.parse.far_in_debug,
	};
	return sizeof(*answer);
}

static const void *find_part(enum reader_part part, size_t *ret_bytes)
{
	const struct elf_segment *segments;

	switch (part) {
	case READER_SEGMENTS:
		*ret_bytes =
			(size_t)elf_file_segments(kept.parse.file, &segments) * sizeof(*segments);
		return segments;
	case READER_RANGES:
		*ret_bytes = kept.symbols.ranges.len * sizeof(struct symbol_range);
		return kept.symbols.ranges.items;
	case READER_NAMES: *ret_bytes = kept.symbols.name_bytes; return kept.symbols.names;
	case READER_BOUNDS:
		*ret_bytes = kept.symbols.bounds.v.len * sizeof(struct bound);
		return kept.symbols.bounds.v.items;
	default: *ret_bytes = 0; return NULL;
	}
}

static int64_t image_take(struct wall_call *call)
{
	size_t bytes;
	const uint8_t *part = find_part((enum reader_part)call->count, &bytes);

	if (call->len > READER_PIECE_BYTES || call->offset > bytes ||
	    call->len > bytes - call->offset)
		return -EINVAL;
	if (call->len)
		memcpy(call->data, part + call->offset, call->len);
	return (int64_t)call->len;
}

/* A reader that is new does not know of the file that the one before had. */
static int64_t image_go_on(struct wall_call *call, int fd)
{
	if (!kept.has_image)
		return -ESTALE;
	switch (call->op) {
	case READER_IMAGE_DEBUG: image_parse_debug(&kept.parse, fd); return 0;
	case READER_IMAGE_END: return image_end(call);
	case READER_IMAGE_TAKE: return image_take(call);
	default: return image_drop();
	}
}

/* --- single questions ------------------------------------------------------------------------- */

static bool is_about_probes(uint32_t op)
{
	return op == READER_OBJECTS || op == READER_USDT;
}

static int64_t carry_out_file(struct wall_call *call, int fd)
{
	struct err err = { 0 };
	int64_t r = is_about_probes(call->op) ? reader_serve_probe(call, fd, &err)
					      : reader_serve_file(call, fd, &err);

	return r < 0 && err.code ? say(call, &err) : r;
}

/* PLAIN: what it says when NAME is not mangled. */
static int64_t tell_name(struct wall_call *call, const char *name, const char *plain)
{
	struct reader_name *answer = (void *)call->data;
	bool cpp;
	_cleanup_free_ char *text = demangle(name, &cpp);

	answer->cpp = cpp;
	return (int64_t)sizeof(*answer) + 1 +
	       snprintf(answer->text, DEMANGLE_MAX_NAME + 1, "%s", text ? text : plain);
}

static int64_t demangle_name(struct wall_call *call)
{
	_cleanup_free_ char *name = xstrndup((const char *)call->data, DEMANGLE_MAX_MANGLED);

	return tell_name(call, name, "");
}

static int64_t far_name(struct wall_call *call, int fd)
{
	char name[DEMANGLE_MAX_MANGLED + 1];
	ssize_t n = pread(fd, name, MIN(call->len, sizeof(name) - 1), (off_t)call->offset);

	if (n <= 0)
		return -ENODATA;
	name[n] = '\0';
	return tell_name(call, name, name);
}

/* The tables are where a reader has found them. */
static int64_t go_frames(struct wall_call *call, int fd)
{
	struct go_frames *answer = (void *)call->data;
	struct cfi_reader reader;
	struct go_place place;
	struct go_table table;
	bool found = false;
	struct stat st;

	memcpy(&place, call->data, sizeof(place));
	if (fd < 0 || fstat(fd, &st) < 0)
		return -EBADF;
	cfi_reader_init_fd(&reader, fd, (uint64_t)st.st_size);
	if (go_table_resume(&table, &reader, &place))
		found = go_frames_find(&table, call->offset, answer);
	cfi_reader_release(&reader);
	if (!found)
		call->data[0] = 0; /* no sentence */
	return found ? (int64_t)go_frames_bytes(answer) : -ENODATA;
}

/* --- the trade -------------------------------------------------------------------------------- */

static int64_t carry_out_cfi(struct wall_call *call, int fd)
{
	struct err err = { 0 };
	int own_fd = call->op == READER_CFI_OPEN ? own(fd) : 0;
	int64_t r;

	if (own_fd < 0)
		return own_fd;
	r = call->op == READER_CFI_OPEN ? reader_serve_cfi_open(call, own_fd, &err)
					: reader_serve_cfi(call, &err);
	return r < 0 && err.code ? say(call, &err) : r;
}

static bool brings_data(uint32_t op)
{
	return op == READER_DEMANGLE || op == READER_FIND || op == READER_PLACES ||
	       op == READER_FUNCTIONS || op == READER_GO_FRAMES || is_about_probes(op);
}

static int64_t carry_out(struct wall_call *call, int fd, int *ret_fd)
{
	*ret_fd = -1;
	if (!brings_data(call->op))
		call->data[0] = 0; /* no sentence */
	switch (call->op) {
	case READER_IMAGE_OPEN: return image_open(call, fd);
	case READER_IMAGE_DEBUG:
	case READER_IMAGE_END:
	case READER_IMAGE_TAKE:
	case READER_IMAGE_DROP: return image_go_on(call, fd);
	case READER_BUILD_ID:
	case READER_FILE:
	case READER_FIND:
	case READER_FUNCTIONS:
	case READER_SONAME:
	case READER_PLACES:
	case READER_OBJECTS:
	case READER_USDT: return carry_out_file(call, fd);
	case READER_FAR_NAME: return far_name(call, fd);
	case READER_GO_FRAMES: return go_frames(call, fd);
	case READER_DEMANGLE: return demangle_name(call);
	case READER_PERF_MAP: return reader_serve_perf_map(call, fd);
	case READER_JIT_DUMP: return reader_serve_jit_dump(call, fd);
	case READER_CFI_OPEN:
	case READER_CFI_DIGEST:
	case READER_CFI_PAGE:
	case READER_CFI_CLOSE: return carry_out_cfi(call, fd);
	default: return -ENOSYS;
	}
}

static bool takes_file(uint32_t op)
{
	switch (op) {
	case READER_IMAGE_OPEN:
	case READER_IMAGE_DEBUG:
	case READER_BUILD_ID:
	case READER_FILE:
	case READER_FIND:
	case READER_FUNCTIONS:
	case READER_SONAME:
	case READER_PLACES:
	case READER_OBJECTS:
	case READER_USDT:
	case READER_FAR_NAME:
	case READER_GO_FRAMES:
	case READER_PERF_MAP:
	case READER_JIT_DUMP:
	case READER_CFI_OPEN: return true;
	default: return false;
	}
}

static bool opens_file(uint32_t op)
{
	(void)op;
	return false;
}

/* A name is 5 us, a page of rows 80. */
static bool is_quick(uint32_t op)
{
	return op == READER_DEMANGLE || op == READER_CFI_CLOSE;
}

static void give_up_rights(const struct wall_call *call)
{
	reader_rights_give_up(call->len);
}

const struct trade reader_trade = {
	.name = "hostprof-reader",
	.is_hostile = true,
	.give_up_rights = give_up_rights,
	.takes_file = takes_file,
	.opens_file = opens_file,
	.is_quick = is_quick,
	.carry_out = carry_out,
};
