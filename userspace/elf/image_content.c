// SPDX-License-Identifier: Apache-2.0
#include "elf/image_content.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/units.h"
#include "elf/debug_file.h"
#include "elf/elf_limits.h"

void image_content_forget(struct image_content *content)
{
	symbols_release(&content->symbols);
	free(content->failure);
	free(content->left_out);
	content->failure = content->left_out = NULL;
}

void image_content_release(struct image_content *content)
{
	vec_release(&content->segments);
	image_content_forget(content);
}

/*
 * The table and its names as they are in the file, the same once more as they are collected, room
 * to sort them, and the result.
 */
#define BYTES_PER_SYMBOL_BYTE 3

struct symbol_reader {
	struct symbols_builder builder;
	struct image_content *content;
	const struct file_id *id; /* NULL: it is no file */
	const char *path;
	uint32_t pid;
	uint64_t left_bytes;
};

void image_content_fail(struct image_content *content, const char *fmt, ...)
{
	struct strbuf text = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	free(content->failure);
	content->failure = strbuf_take(&text);
}

static void read_segments(struct elf_file *file, struct image_content *content)
{
	const struct elf_segment *segments;
	int count = elf_file_segments(file, &segments);

	for (int i = 0; i < count; i++)
		vec_push(&content->segments, segments[i]);
}

static void leave_out(struct symbol_reader *reader, const char *what, uint64_t bytes)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%s of %s take ", what, reader->path ? reader->path : "it");
	if (bytes)
		units_format_bytes(&text, bytes);
	strbuf_addstr(&text, bytes ? ": more than --memory-limit leaves for one file"
				   : "more than --memory-limit leaves for one file");
	free(reader->content->left_out);
	reader->content->left_out = strbuf_take(&text);
}

static void add_file(struct symbol_reader *reader, struct elf_file *file)
{
	uint64_t in_file = elf_file_symbol_bytes(file), bytes = in_file * BYTES_PER_SYMBOL_BYTE;

	if (bytes > reader->left_bytes) {
		leave_out(reader, "the symbols", bytes);
		return;
	}
	reader->left_bytes -= bytes;
	elf_file_limit_reads(file, in_file + ELF_PLT_BYTES);
	/* Names share their ends in a file. */
	reader->builder.limit_bytes += 2 * in_file + ELF_PLT_BYTES;
	symbols_builder_add(&reader->builder, file);
	if (reader->builder.full)
		leave_out(reader, "the names", 0);
}

/* .gnu_debugdata of FILE, if any. */
static void add_debugdata(struct symbol_reader *reader, struct elf_file *file)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	_cleanup_(elf_file_closep) struct elf_file *inner = NULL;
	struct err err;
	int r;

	elf_file_limit_reads(file, reader->left_bytes);
	r = elf_file_debugdata(file, reader->left_bytes, &bytes, &err);
	if (r == -E2BIG)
		leave_out(reader, "compressed symbols", 0);
	if (r == 0 && elf_file_open_memory(bytes.buf, bytes.len, &inner, &err) == 0)
		add_file(reader, inner);
}

static void add_debug_file(struct symbol_reader *reader, struct elf_file *file)
{
	_cleanup_(elf_file_closep) struct elf_file *debug = NULL;
	_cleanup_close_ int fd = debug_file_open(file, reader->id, reader->pid, reader->path);
	struct err err;

	if (fd < 0)
		return;
	if (elf_file_open(fd, &debug, &err) == 0)
		add_file(reader, debug);
	elf_file_close(TAKE_PTR(debug)); /* before its descriptor */
}

static void read_symbols(struct elf_file *file, struct symbol_reader *reader)
{
	add_file(reader, file);
	if (!elf_file_has_symtab(file)) {
		add_debugdata(reader, file);
		if (reader->id)
			add_debug_file(reader, file);
	}
	symbols_build(&reader->builder, file, &reader->content->symbols);
}

static bool is_elf(int fd)
{
	char magic[4];

	return file_pread_full(fd, magic, sizeof(magic), 0) < 0 ||
	       memcmp(magic, "\177ELF", sizeof(magic)) == 0;
}

void image_content_read(int fd, uint32_t pid, const char *path, size_t limit_bytes,
			struct image_content *ret_content)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	struct image_content content = { 0 };
	struct symbol_reader reader = {
		.content = &content, .path = path, .pid = pid, .left_bytes = limit_bytes
	};
	struct file_id id;
	struct err err;

	if (!is_elf(fd)) {
		*ret_content = content;
		return;
	}
	if (elf_file_open(fd, &file, &err) < 0) {
		image_content_fail(&content, "cannot read %s: %s", path, err.text);
	} else {
		elf_file_build_id(file, content.build_id, sizeof(content.build_id));
		read_segments(file, &content);
		if (file_id_read(fd, &id) == 0)
			reader.id = &id;
		read_symbols(file, &reader);
	}
	*ret_content = content;
}

void image_content_read_memory(const void *data, size_t len, const char *name,
			       struct image_content *ret_content)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	struct image_content content = { 0 };
	struct symbol_reader reader = { .content = &content, .left_bytes = SIZE_MAX };
	struct err err;

	if (elf_file_open_memory(data, len, &file, &err) < 0) {
		image_content_fail(&content, "cannot read %s: %s", name, err.text);
	} else {
		elf_file_build_id(file, content.build_id, sizeof(content.build_id));
		read_segments(file, &content);
		read_symbols(file, &reader);
	}
	*ret_content = content;
}
