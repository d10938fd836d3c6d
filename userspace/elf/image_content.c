// SPDX-License-Identifier: Apache-2.0
#include "elf/image_content.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "elf/debug_file.h"

void image_content_release(struct image_content *content)
{
	vec_release(&content->segments);
	symbols_release(&content->symbols);
	free(content->failure);
	content->failure = NULL;
}

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

/* .gnu_debugdata of FILE, if any. */
static void add_debugdata(struct symbols_builder *builder, struct elf_file *file)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	_cleanup_(elf_file_closep) struct elf_file *inner = NULL;
	struct err err;

	if (elf_file_debugdata(file, &bytes, &err) == 0 &&
	    elf_file_open_memory(bytes.buf, bytes.len, &inner, &err) == 0)
		symbols_builder_add(builder, inner);
}

static void add_debug_file(struct symbols_builder *builder, struct elf_file *file, uint32_t pid,
			   const char *path)
{
	_cleanup_(elf_file_closep) struct elf_file *debug = NULL;
	_cleanup_close_ int fd = debug_file_open(file, pid, path);
	struct err err;

	if (fd < 0)
		return;
	if (elf_file_open(fd, &debug, &err) == 0)
		symbols_builder_add(builder, debug);
	elf_file_close(TAKE_PTR(debug)); /* before its descriptor */
}

static void read_symbols(struct elf_file *file, uint32_t pid, const char *path,
			 struct image_content *content)
{
	struct symbols_builder builder = { 0 };

	symbols_builder_add(&builder, file);
	if (!elf_file_has_symtab(file)) {
		add_debugdata(&builder, file);
		if (path)
			add_debug_file(&builder, file, pid, path);
	}
	symbols_build(&builder, file, &content->symbols);
}

static bool is_elf(int fd)
{
	char magic[4];

	return file_pread_full(fd, magic, sizeof(magic), 0) < 0 ||
	       memcmp(magic, "\177ELF", sizeof(magic)) == 0;
}

void image_content_read(int fd, uint32_t pid, const char *path, struct image_content *ret_content)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	struct image_content content = { 0 };
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
		read_symbols(file, pid, path, &content);
	}
	*ret_content = content;
}

void image_content_read_memory(const void *data, size_t len, const char *name,
			       struct image_content *ret_content)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	struct image_content content = { 0 };
	struct err err;

	if (elf_file_open_memory(data, len, &file, &err) < 0) {
		image_content_fail(&content, "cannot read %s: %s", name, err.text);
	} else {
		elf_file_build_id(file, content.build_id, sizeof(content.build_id));
		read_segments(file, &content);
		read_symbols(file, 0, NULL, &content);
	}
	*ret_content = content;
}
