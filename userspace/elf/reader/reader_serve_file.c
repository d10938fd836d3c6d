// SPDX-License-Identifier: Apache-2.0
#include "elf/reader/reader_serve_file.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cache/thread_scratch.h"
#include "base/strbuf.h"
#include "elf/infer/infer_entry.h"
#include "elf/reader/reader_call.h"

_Static_assert(sizeof(struct reader_file_said) <= WALL_DATA_BYTES, "an answer fits");

static int64_t tell_build_id(struct wall_call *call, struct elf_file *file)
{
	return elf_file_build_id(file, (char *)call->data, BUILD_ID_BYTES) < 0 ? -ENODATA
									       : BUILD_ID_BYTES;
}

static int64_t tell_file(struct wall_call *call, struct elf_file *file)
{
	struct reader_file_said *answer = (void *)call->data;
	const struct elf_segment *segments;
	size_t count = (size_t)elf_file_segments(file, &segments);

	elf_file_find_debug(file, &answer->link);
	answer->segments = (uint32_t)MIN(count, (size_t)READER_MAX_SEGMENTS);
	if (answer->segments)
		memcpy(answer->segment, segments, answer->segments * sizeof(*segments));
	return (int64_t)(offsetof(struct reader_file_said, segment) +
			 answer->segments * sizeof(*segments));
}

/* --- names ------------------------------------------------------------------------------------ */

struct search {
	char text[READER_PIECE_BYTES];
	const char *names[READER_MAX_NAMES]; /* in `text` */
	uint64_t addresses[READER_MAX_NAMES];
	unsigned int count;
};

static void take_names(const struct wall_call *call, struct search *search)
{
	size_t len = MIN(call->len, sizeof(search->text) - 1), at = 0;

	memcpy(search->text, call->data, len);
	search->text[len] = '\0';
	search->count = 0;
	while (at < len && search->count < READER_MAX_NAMES) {
		search->addresses[search->count] = READER_NOT_THERE;
		search->names[search->count++] = search->text + at;
		at += strlen(search->text + at) + 1;
	}
}

static void note_function(const char *name, uint64_t address, uint64_t size, void *data)
{
	struct search *search = data;

	(void)size;
	for (unsigned int i = 0; i < search->count; i++)
		if (strncmp(name, search->names[i], strlen(search->names[i])) == 0)
			search->addresses[i] = address;
}

static void look_for_symbols(struct elf_file *file, struct search *search)
{
	uint64_t address;

	for (unsigned int i = 0; i < search->count; i++)
		if (elf_file_find_symbol(file, search->names[i], &address) == 0)
			search->addresses[i] = address;
}

static int64_t find(struct wall_call *call, struct elf_file *file)
{
	static struct thread_scratch scratch;
	struct search *search = thread_scratch_get(&scratch, sizeof(*search));
	size_t bytes;

	take_names(call, search);
	if (call->count == READER_FIND_FUNCTION)
		elf_file_for_each_function(file, note_function, search);
	else
		look_for_symbols(file, search);
	bytes = search->count * sizeof(search->addresses[0]);
	memcpy(call->data, search->addresses, bytes);
	return (int64_t)bytes;
}

/* --- functions --- */

struct function_search {
	struct search names;
	struct reader_function functions[READER_MAX_NAMES];
};

/* NAME, or in .symtab NAME@@VERSION. */
static bool is_exactly(const char *its_name, const char *name)
{
	size_t len = strlen(name);

	return strncmp(its_name, name, len) == 0 &&
	       (!its_name[len] || strncmp(its_name + len, "@@", 2) == 0);
}

static void note_exact(const struct elf_raw_symbol *symbol, void *data)
{
	struct function_search *search = data;

	for (unsigned int i = 0; i < search->names.count; i++)
		if (symbol->rank > search->functions[i].rank &&
		    is_exactly(symbol->name, search->names.names[i]))
			search->functions[i] =
				(struct reader_function){ symbol->address, symbol->size,
							  symbol->rank, 0 };
}

/* ADDRESS in the file FILE, as far as that has it as code: up to SIZE bytes of it. */
static size_t read_code(struct elf_file *file, int fd, uint64_t address, uint64_t size,
			uint8_t *code)
{
	const struct elf_segment *segments;
	int count = elf_file_segments(file, &segments);

	for (int i = 0; i < count; i++) {
		uint64_t in = address - segments[i].address;
		ssize_t n;

		if (!(segments[i].flags & PF_X) || in >= segments[i].file_size)
			continue;
		n = pread(fd, code, MIN(size, segments[i].file_size - in),
			  (off_t)(segments[i].offset + in));
		return n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static void find_probe(struct elf_file *file, int fd, struct reader_function *function)
{
	uint8_t code[INFER_ENTRY_BYTES];
	size_t len =
		read_code(file, fd, function->address, MIN(function->size, sizeof(code)), code);

	function->probe = infer_entry_probe(code, len);
}

static int64_t tell_functions(struct wall_call *call, int fd, struct elf_file *file)
{
	static struct thread_scratch scratch;
	struct function_search *search = thread_scratch_get(&scratch, sizeof(*search));
	size_t bytes;

	take_names(call, &search->names);
	for (unsigned int i = 0; i < search->names.count; i++)
		search->functions[i] = (struct reader_function){ READER_NOT_THERE, 0, 0, 0 };
	elf_file_for_each_table_symbol(file, note_exact, search);
	for (unsigned int i = 0; i < search->names.count; i++)
		if (search->functions[i].rank)
			find_probe(file, fd, &search->functions[i]);
	bytes = search->names.count * sizeof(search->functions[0]);
	memcpy(call->data, search->functions, bytes);
	return (int64_t)bytes;
}

/* --- probes ----------------------------------------------------------------------------------- */

static int64_t tell_soname(struct wall_call *call, struct elf_file *file)
{
	int r = elf_file_soname(file, (char *)call->data, NAME_MAX + 1);

	return r < 0 ? r : (int64_t)strlen((const char *)call->data) + 1;
}

static void note_place(uint64_t address, bool is_ifunc, void *data)
{
	struct reader_places *places = data;

	places->is_ifunc |= is_ifunc;
	for (uint32_t i = 0; i < places->count; i++)
		if (places->address[i] == address)
			return;
	if (places->count < READER_MAX_PLACES)
		places->address[places->count++] = address;
}

static void look_in_debugdata(struct elf_file *file, const char *name, uint64_t limit_bytes,
			      struct reader_places *places)
{
	_cleanup_(elf_file_closep) struct elf_file *inner = NULL;
	_cleanup_strbuf_ struct strbuf data = STRBUF_INIT;
	struct err err;

	if (elf_file_debugdata(file, limit_bytes, &data, &err) < 0 ||
	    elf_file_open_memory(data.buf, data.len, &inner, &err) < 0)
		return;
	elf_file_limit_reads(inner, limit_bytes);
	elf_file_for_each_named(inner, name, note_place, places);
}

static int64_t tell_places(struct wall_call *call, struct elf_file *file)
{
	_cleanup_free_ char *name = xstrndup((const char *)call->data, READER_PIECE_BYTES);
	struct reader_places *places = (void *)call->data;

	places->count = places->is_ifunc = 0;
	elf_file_limit_reads(file, call->len);
	elf_file_for_each_named(file, name, note_place, places);
	if (!places->count)
		look_in_debugdata(file, name, call->len, places);
	return (int64_t)(offsetof(struct reader_places, address) +
			 places->count * sizeof(places->address[0]));
}

int64_t reader_serve_file(struct wall_call *call, int fd, struct err *err)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	int r = elf_file_open(fd, &file, err);

	if (r < 0)
		return r;
	switch (call->op) {
	case READER_BUILD_ID: return tell_build_id(call, file);
	case READER_FILE: return tell_file(call, file);
	case READER_SONAME: return tell_soname(call, file);
	case READER_PLACES: return tell_places(call, file);
	case READER_FUNCTIONS: return tell_functions(call, fd, file);
	default: return find(call, file);
	}
}
