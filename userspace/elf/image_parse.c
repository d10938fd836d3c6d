// SPDX-License-Identifier: Apache-2.0
#include "elf/image_parse.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/cfi/cfi_file.h"
#include "elf/cfi/cfi_roots.h"
#include "elf/elf_limits.h"
#include "elf/go/go_place.h"

/*
 * The table and its names as they are in the file, the same once more as they are collected, room
 * to sort them, and the result.
 */
#define BYTES_PER_SYMBOL_BYTE 3

int image_parse_open(struct image_parse *parse, int fd, uint64_t limit_bytes, struct err *err)
{
	*parse = (struct image_parse){ .fd = fd, .left_bytes = limit_bytes };
	return elf_file_open(fd, &parse->file, err);
}

int image_parse_open_memory(struct image_parse *parse, const void *data, size_t len,
			    struct err *err)
{
	*parse = (struct image_parse){ .fd = -1, .left_bytes = SIZE_MAX };
	return elf_file_open_memory(data, len, &parse->file, err);
}

static void leave_out(struct image_parse *parse, enum image_left_out what, uint64_t bytes)
{
	parse->left_out = what;
	parse->left_out_bytes = bytes;
}

/* As it is collected, room to sort it, and the result. */
#define BYTES_PER_FAR_SYMBOL (2 * sizeof(struct raw_range) + sizeof(struct symbol_range))

/*
 * Their names stay in the file FD. False: there is no room for their addresses either; or it is another file than that of Go's tables, as
 * one stays open.
 */
static bool add_far_file(struct image_parse *parse, struct elf_file *file, int fd)
{
	uint64_t bytes = far_symbols_count(file) * BYTES_PER_FAR_SYMBOL;
	struct cfi_reader reader;
	struct stat st;

	if (parse->go.size && file != parse->file)
		return false;
	if (!bytes || bytes > parse->left_bytes || fd < 0 || fstat(fd, &st) < 0)
		return false;
	parse->left_bytes -= bytes;
	elf_file_limit_reads(file, MIN(parse->left_bytes, ELF_PLT_BYTES));
	parse->builder.limit_bytes += bytes + ELF_PLT_BYTES;
	cfi_reader_init_fd(&reader, fd, (uint64_t)st.st_size);
	symbols_builder_add_far(&parse->builder, file, &reader);
	cfi_reader_release(&reader);
	parse->far_in_debug = file != parse->file;
	parse->has_symtab |= elf_file_has_symtab(file);
	return true;
}

static void add_file(struct image_parse *parse, struct elf_file *file, int fd)
{
	uint64_t in_file = elf_file_symbol_bytes(file), bytes = in_file * BYTES_PER_SYMBOL_BYTE;

	if (bytes > parse->left_bytes) {
		if (!add_far_file(parse, file, fd))
			leave_out(parse, IMAGE_LEFT_SYMBOLS, bytes);
		return;
	}
	parse->left_bytes -= bytes;
	elf_file_limit_reads(file, in_file + ELF_PLT_BYTES);
	/* Names share their ends in a file. */
	parse->builder.limit_bytes += 2 * in_file + ELF_PLT_BYTES;
	symbols_builder_add(&parse->builder, file);
	if (parse->builder.full)
		leave_out(parse, IMAGE_LEFT_NAMES, 0);
	else
		parse->has_symtab |= elf_file_has_symtab(file);
}

/* .gnu_debugdata, if any. */
static void add_debugdata(struct image_parse *parse)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	_cleanup_(elf_file_closep) struct elf_file *inner = NULL;
	struct err err;
	int r;

	elf_file_limit_reads(parse->file, parse->left_bytes);
	r = elf_file_debugdata(parse->file, parse->left_bytes, &bytes, &err);
	if (r == -E2BIG)
		leave_out(parse, IMAGE_LEFT_DEBUGDATA, 0);
	if (r == 0 && elf_file_open_memory(bytes.buf, bytes.len, &inner, &err) == 0)
		add_file(parse, inner, -1);
}

/* They name Go's functions: its symbols are read of the others. */
static void find_go(struct image_parse *parse)
{
	struct cfi_reader reader;
	struct go_table table;
	struct stat st;

	if (parse->fd < 0 || !cfi_roots_is_go(parse->file) || fstat(parse->fd, &st) < 0)
		return;
	cfi_reader_init_fd(&reader, parse->fd, (uint64_t)st.st_size);
	if (go_place_open(&table, &reader, parse->file) == 0) {
		parse->go = table.at;
		parse->builder.go_first = table.at.first;
		parse->builder.go_end = table.at.end;
	}
	cfi_reader_release(&reader);
}

void image_parse_own(struct image_parse *parse)
{
	find_go(parse);
	add_file(parse, parse->file, parse->fd);
	if (image_parse_wants_debug(parse))
		add_debugdata(parse);
}

bool image_parse_wants_debug(struct image_parse *parse)
{
	return !elf_file_has_symtab(parse->file);
}

void image_parse_debug(struct image_parse *parse, int debug_fd)
{
	_cleanup_(elf_file_closep) struct elf_file *debug = NULL;
	struct err err;

	if (elf_file_open(debug_fd, &debug, &err) == 0)
		add_file(parse, debug, debug_fd);
}

struct bounding {
	struct symbols *symbols;
	size_t most;
};

static bool add_bound(uint64_t start, uint64_t end, void *data)
{
	struct bounding *bounding = data;

	if (!symbols_cover(bounding->symbols, start, end))
		bounds_add(&bounding->symbols->bounds, start, end);
	return bounding->symbols->bounds.v.len < bounding->most;
}

/* Of functions without a symbol at least where they begin. */
static void add_bounds(struct image_parse *parse, struct symbols *symbols)
{
	/* As they are collected, and what growing them leaves behind. */
	struct bounding bounding = { symbols, MIN(parse->left_bytes / (4 * sizeof(struct bound)),
						  (uint64_t)BOUNDS_MAX) };
	_cleanup_(cfi_file_closep) struct cfi_file *file = NULL;
	int fd = dup(parse->fd);
	struct err err;

	if (fd < 0 || cfi_file_open(fd, &file, &err) < 0)
		return;
	if (bounding.most)
		cfi_file_for_each_function(file, add_bound, &bounding);
	bounds_end(&symbols->bounds);
}

void image_parse_end(struct image_parse *parse, struct symbols *ret_symbols)
{
	symbols_build(&parse->builder, parse->file, ret_symbols);
	if (!parse->has_symtab && parse->fd >= 0)
		add_bounds(parse, ret_symbols);
}

void image_parse_release(struct image_parse *parse)
{
	symbols_builder_release(&parse->builder);
	elf_file_close(parse->file);
	if (parse->fd >= 0)
		close(parse->fd);
	*parse = (struct image_parse)IMAGE_PARSE_INIT;
}
