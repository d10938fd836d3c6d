// SPDX-License-Identifier: Apache-2.0
#include "elf/go/go_frames.h"

#include <stddef.h>
#include <string.h>

#include "base/macros.h"

/* internal/abi/symtab.go: numbers of lists; the same since 1.16. */
enum { PCDATA_INL_TREE = 2, FUNCDATA_INL_TREE = 3 };

#define NO_FUNCDATA UINT32_MAX
/* runtime/symtabinl.go has room for so many. */
#define MAX_CALLS (1 << 20)

/* --- texts ------------------------------------------------------------------------------------ */

static bool add_text(const struct go_table *table, uint64_t part, uint64_t at,
		     struct go_frames *frames, uint32_t *ret_text)
{
	char text[GO_MAX_TEXT];
	size_t len;

	if (!go_table_text(table, part, at, text, sizeof(text)))
		return false;
	len = strlen(text) + 1;
	if (len < 2 || len > sizeof(frames->text) - frames->text_bytes)
		return false;
	memcpy(frames->text + frames->text_bytes, text, len);
	*ret_text = frames->text_bytes;
	frames->text_bytes += (uint32_t)len;
	return true;
}

/* Before 1.16 all files had numbers, from 1 on; since then those of a compilation unit, from 0 on (cmd/link/internal/ld/pcln.go). */
static bool find_file(const struct go_table *table, const struct go_function *function,
		      int32_t number, uint64_t *ret_at)
{
	const bool unit = go_layouts[table->at.form].unit;
	const uint64_t list =
		unit ? table->at.units + ((uint64_t)function->unit + (uint32_t)number) * 4
		     : table->at.files + (uint64_t)(uint32_t)number * 4;
	struct cfi_bytes b = go_table_bytes(table, list, 4);

	*ret_at = cfi_bytes_fixed(&b, 4);
	return number >= 0 && !b.bad && *ret_at != UINT32_MAX;
}

static void add_file(const struct go_table *table, const struct go_function *function,
		     uint64_t address, struct go_frames *frames, struct go_frame *frame)
{
	const uint64_t part = go_layouts[table->at.form].unit ? table->at.files : 0;
	int32_t number;
	uint64_t at;

	if (!go_table_value(table, function, function->pcfile, address, &number) ||
	    !find_file(table, function, number, &at) ||
	    !add_text(table, part, at, frames, &frame->file))
		return;
	if (!go_table_value(table, function, function->pcline, address, &frame->line) ||
	    frame->line < 0)
		frame->line = 0;
}

/* What has its name at NAME, and is at ADDRESS of FUNCTION. */
static bool add_frame(const struct go_table *table, const struct go_function *function,
		      uint64_t name, uint64_t address, struct go_frames *frames)
{
	/* A text that is not known is the end of the first one's name. */
	struct go_frame frame = { 0 };

	if (!add_text(table, table->at.names, name, frames, &frame.name))
		return false;
	frame.file = frame.name + (uint32_t)strlen(frames->text + frame.name);
	add_file(table, function, address, frames, &frame);
	frames->frame[frames->count++] = frame;
	return true;
}

/* --- what was inlined ------------------------------------------------------------------------- */

struct inlined {
	uint64_t name, parent; /* offset of the call within the function */
};

/* Where in the file FUNCTION's tree of inlined calls is. */
static bool find_tree(const struct go_table *table, const struct go_function *function,
		      uint64_t *ret_at)
{
	uint64_t at = function->pcdata + ((uint64_t)function->pcdata_count + FUNCDATA_INL_TREE) * 4;
	struct cfi_bytes b;
	uint64_t offset;

	if (!table->at.inlined || function->funcdata_count <= FUNCDATA_INL_TREE ||
	    function->pcdata_count <= PCDATA_INL_TREE)
		return false;
	b = go_table_bytes(table, at, 4);
	offset = cfi_bytes_fixed(&b, 4);
	*ret_at = table->at.inlined + offset;
	return !b.bad && offset != NO_FUNCDATA && offset < table->at.inlined_size;
}

/* runtime/symtab.go, symtabinl.go: type inlinedCall. Before 1.20 it began with its parent's number and where the call was. */
static bool read_inlined(const struct go_table *table, uint64_t tree, int32_t number,
			 struct inlined *ret)
{
	const unsigned int bytes = go_layouts[table->at.form].inlined;
	const uint64_t at = tree + (uint64_t)(uint32_t)number * bytes;
	uint8_t entry[20] = { 0 };
	struct cfi_bytes b = { entry, entry + sizeof(entry), false };

	if (at - table->at.inlined > table->at.inlined_size - bytes ||
	    cfi_reader_copy(table->reader, at, entry, bytes) != bytes)
		return false;
	cfi_bytes_skip(&b, table->at.form == GO_1_18 ? 12 : 4);
	ret->name = cfi_bytes_fixed(&b, 4);
	ret->parent = cfi_bytes_fixed(&b, 4);
	return true;
}

/* A name begins where another one ends: what is none is no tree either. */
static bool is_name(const struct go_table *table, uint64_t at)
{
	char text[2];

	if (!at)
		return true;
	return go_table_text(table, table->at.names, at - 1, text, sizeof(text)) && !text[0];
}

/* Which call of the tree ADDRESS is in; negative: none. */
static int32_t number_at(const struct go_table *table, const struct go_function *function,
			 uint64_t address)
{
	struct cfi_bytes b = go_table_bytes(table, function->pcdata + 4ULL * PCDATA_INL_TREE, 4);
	uint32_t list = (uint32_t)cfi_bytes_fixed(&b, 4);
	int32_t number;

	if (b.bad || !go_table_value(table, function, list, address, &number))
		return -1;
	return number < MAX_CALLS ? number : -1;
}

/* Those that are in the function at *ADDRESS, which becomes where the outermost was called. */
static void add_inlined(const struct go_table *table, const struct go_function *function,
			struct go_frames *frames, uint64_t *address)
{
	struct inlined call;
	uint64_t tree;
	int32_t number;

	if (!find_tree(table, function, &tree))
		return;
	for (int i = 0; i < 4 * GO_MAX_FRAMES; i++) {
		number = number_at(table, function, *address);
		if (number < 0 || !read_inlined(table, tree, number, &call) ||
		    call.parent >= function->end - function->start || !is_name(table, call.name))
			return;
		if (frames->count < GO_MAX_FRAMES - 1 &&
		    !add_frame(table, function, call.name, *address, frames))
			return;
		*address = function->start + call.parent;
	}
}

bool go_frames_find(const struct go_table *table, uint64_t address, struct go_frames *ret)
{
	uint64_t at = go_table_find(table, address);
	struct go_function function;

	ret->count = ret->text_bytes = 0;
	if (!go_table_function_at(table, at, &function) || address < function.start ||
	    address >= function.end)
		return false;
	ret->start = function.start;
	add_inlined(table, &function, ret, &address);
	if (add_frame(table, &function, function.name, address, ret))
		return true;
	/* Inlined into what has no name: that is none of Go's. */
	ret->count = 0;
	return false;
}

size_t go_frames_bytes(const struct go_frames *frames)
{
	return offsetof(struct go_frames, text) + frames->text_bytes;
}

bool go_frames_are_sound(const struct go_frames *frames, size_t bytes)
{
	if (bytes < offsetof(struct go_frames, text) || !frames->count ||
	    frames->count > GO_MAX_FRAMES || !frames->text_bytes ||
	    frames->text_bytes > GO_TEXT_BYTES || bytes != go_frames_bytes(frames) ||
	    frames->text[frames->text_bytes - 1])
		return false;
	for (uint32_t i = 0; i < frames->count; i++)
		if (frames->frame[i].name >= frames->text_bytes ||
		    frames->frame[i].file >= frames->text_bytes || frames->frame[i].line < 0)
			return false;
	return true;
}
