// SPDX-License-Identifier: Apache-2.0
#include "elf/image_content.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "base/units.h"
#include "elf/debug/debug_file.h"
#include "elf/elf_limits.h"
#include "elf/image_parse.h"
#include "elf/reader/reader.h"
#include "elf/reader/reader_sound.h"

/* Readers that come to their end with it, a late one counted twice; one that died may have been ended by somebody. */
#define MAX_ENDS 3
/* Without a limit, too, there is one to what a reader may say that it has. */
#define MAX_SYMBOL_BYTES (4ULL << 30)

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

static void leave_out(struct image_content *content, const char *path, uint32_t what,
		      uint64_t bytes)
{
	static const char *const words[] = { [IMAGE_LEFT_SYMBOLS] = "the symbols",
					     [IMAGE_LEFT_NAMES] = "the names",
					     [IMAGE_LEFT_DEBUGDATA] = "compressed symbols" };
	struct strbuf text = STRBUF_INIT;

	if (what == IMAGE_LEFT_NOTHING || what >= ARRAY_SIZE(words))
		return;
	strbuf_addf(&text, "%s of %s take ", words[what], path);
	if (bytes)
		units_format_bytes(&text, bytes);
	strbuf_addstr(&text, bytes ? ": more than --memory-limit leaves for one file"
				   : "more than --memory-limit leaves for one file");
	free(content->left_out);
	content->left_out = strbuf_take(&text);
}

/* --- what a reader says ----------------------------------------------------------------------- */

struct image_reading {
	struct image_content content;
	struct file_id id;
	const char *path; /* borrowed */
	int fd;		  /* borrowed */
	uint32_t pid;
	uint64_t limit_bytes;
	int debug_fd;	    /* owned; -1: none */
	bool far_in_debug;  /* names that are read when they are wanted */
	bool died_of_debug; /* of the debug file, and not of the file itself */
};

static int ask(const struct image_reading *reading, struct reader_ask ask, struct err *err)
{
	int64_t r;

	ask.owner = reader_owner(&reading->id);
	r = reader_call(&ask, err);
	if (r < 0)
		return (int)r;
	return r == (int64_t)ask.answer_len ? 0 : reader_not_sound(err);
}

static int open_image(struct image_reading *reading, struct reader_image *ret_image,
		      struct err *err)
{
	int r = ask(reading,
		    (struct reader_ask){ .op = READER_IMAGE_OPEN,
					 .fd = reading->fd,
					 .len = reading->limit_bytes,
					 .answer = ret_image,
					 .answer_len = sizeof(*ret_image) },
		    err);

	if (r < 0)
		return r;
	if (!reader_link_is_sound(&ret_image->link))
		return reader_not_sound(err);
	memcpy(reading->content.build_id, ret_image->link.build_id, BUILD_ID_BYTES);
	return 0;
}

static int add_debug_file(struct image_reading *reading, const struct debug_link *link,
			  struct err *err)
{
	int r = 0;

	closep(&reading->debug_fd);
	reading->debug_fd = debug_file_open(link, &reading->id, reading->pid, reading->path);
	if (reading->debug_fd >= 0)
		r = ask(reading,
			(struct reader_ask){ .op = READER_IMAGE_DEBUG, .fd = reading->debug_fd },
			err);

	reading->died_of_debug = reader_has_gone(r);
	return r;
}

/* All BYTES of a part, in pieces. */
static int take_part(const struct image_reading *reading, enum reader_part part, void *data,
		     uint64_t bytes, struct err *err)
{
	uint64_t at = 0, len;
	int r = 0;

	for (; r == 0 && at < bytes; at += len) {
		len = MIN(bytes - at, (uint64_t)READER_PIECE_BYTES);
		r = ask(reading,
			(struct reader_ask){ .op = READER_IMAGE_TAKE,
					     .fd = -1,
					     .count = part,
					     .offset = at,
					     .len = len,
					     .answer = (uint8_t *)data + at,
					     .answer_len = len },
			err);
	}
	return r;
}

/* Are there so many? More than all that was to be read for them there cannot be. */
static bool counts_are_sound(const struct image_reading *reading, const struct reader_symbols *s)
{
	uint64_t most = MIN(reading->limit_bytes, MAX_SYMBOL_BYTES) + ELF_PLT_BYTES;

	return s->segments <= ELF_MAX_SEGMENTS && s->ranges <= most / sizeof(struct symbol_range) &&
	       s->name_bytes <= most - s->ranges * sizeof(struct symbol_range) &&
	       s->name_bytes <= UINT32_MAX && s->name_bytes > 0 && s->far.size <= SYMBOL_FAR &&
	       s->far.offset + s->far.size >= s->far.size &&
	       s->bounds <= MIN(most / sizeof(struct bound), (uint64_t)BOUNDS_MAX);
}

static bool segments_are_sound(const struct image_content *content)
{
	const struct elf_segment *s;

	vec_for_each (s, &content->segments)
		if (s->address + s->memory_size < s->address)
			return false;
	return reader_segments_are_sound(content->segments.items, content->segments.len);
}

/* For names that are read when they are wanted. */
static void keep_file(struct image_reading *reading)
{
	struct symbols *symbols = &reading->content.symbols;

	int fd = reading->far_in_debug ? reading->debug_fd : reading->fd;

	if (!symbols->go.size && !symbols->far.size)
		return;
	/* 0 says that there is none */
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	symbols->names_fd = MAX(fd, 0);
}

static int take_symbols(struct image_reading *reading, const struct reader_symbols *counts,
			struct err *err)
{
	struct image_content *content = &reading->content;
	struct symbols *symbols = &content->symbols;
	int r;

	content->segments.cap = counts->segments;
	content->segments.items = xcalloc(counts->segments, sizeof(struct elf_segment));
	symbols->ranges.cap = counts->ranges;
	symbols->ranges.items = xmalloc(counts->ranges * sizeof(struct symbol_range));
	symbols->name_bytes = counts->name_bytes;
	symbols->names = xmalloc(counts->name_bytes);
	symbols->bounds.base = counts->bounds_base;
	symbols->bounds.v.cap = counts->bounds;
	symbols->bounds.v.items = xmalloc(counts->bounds * sizeof(struct bound));
	symbols->owner = reader_owner(&reading->id);
	symbols->go = counts->go;
	symbols->far = counts->far;
	reading->far_in_debug = counts->far_in_debug;
	r = take_part(reading, READER_SEGMENTS, content->segments.items,
		      counts->segments * sizeof(struct elf_segment), err);
	if (r == 0)
		r = take_part(reading, READER_RANGES, symbols->ranges.items,
			      counts->ranges * sizeof(struct symbol_range), err);
	if (r == 0)
		r = take_part(reading, READER_NAMES, symbols->names, counts->name_bytes, err);
	if (r == 0)
		r = take_part(reading, READER_BOUNDS, symbols->bounds.v.items,
			      counts->bounds * sizeof(struct bound), err);
	if (r < 0)
		return r;
	content->segments.len = counts->segments;
	symbols->ranges.len = counts->ranges;
	symbols->bounds.v.len = counts->bounds;
	if (!segments_are_sound(content) || !symbols_are_sound(symbols))
		return reader_not_sound(err);
	keep_file(reading);
	return 0;
}

static int end_image(struct image_reading *reading, struct err *err)
{
	struct reader_symbols counts = { 0 };
	int r = ask(reading,
		    (struct reader_ask){ .op = READER_IMAGE_END,
					 .fd = -1,
					 .answer = &counts,
					 .answer_len = sizeof(counts) },
		    err);

	if (r < 0)
		return r;
	if (!counts_are_sound(reading, &counts))
		return reader_not_sound(err);
	leave_out(&reading->content, reading->path, counts.left_out, counts.left_out_bytes);
	return take_symbols(reading, &counts, err);
}

/* With its debug file, if another reader has not died of that. */
static int read_once(struct image_reading *reading, struct err *err)
{
	struct reader_image image = { .wants_debug = 0 };
	struct err ignored;
	bool without_debug = reading->died_of_debug;
	int r = open_image(reading, &image, err);

	if (r == 0 && image.wants_debug && !without_debug)
		r = add_debug_file(reading, &image.link, err);
	if (r == 0)
		r = end_image(reading, err);
	if (!reader_has_gone(r))
		(void)ask(reading, (struct reader_ask){ .op = READER_IMAGE_DROP, .fd = -1 },
			  &ignored);
	return r;
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
	struct image_reading reading = {
		.path = path, .fd = fd, .pid = pid, .limit_bytes = limit_bytes, .debug_fd = -1
	};
	struct err err = { 0 };
	int r = 0;

	if (is_elf(fd) && file_id_read(fd, &reading.id) == 0)
		r = read_once(&reading, &err);
	for (int ends = 0; reader_has_gone(r);) {
		ends += r == -ETIMEDOUT ? 2 : 1;
		if (ends >= MAX_ENDS)
			break;
		image_content_release(&reading.content);
		reading.content = (struct image_content){ .build_id = "" };
		r = read_once(&reading, &err);
	}
	if (reader_has_gone(r))
		reader_note_refused(path);
	if (r < 0) {
		image_content_release(&reading.content);
		reading.content = (struct image_content){ .build_id = "" };
		image_content_fail(&reading.content, "cannot read %s: %s", path, err.text);
	}
	closep(&reading.debug_fd);
	*ret_content = reading.content;
}

void image_content_read_memory(const void *data, size_t len, const char *name,
			       struct image_content *ret_content)
{
	struct image_parse parse = IMAGE_PARSE_INIT;
	struct image_content content = { .build_id = "" };
	const struct elf_segment *segments;
	struct err err;
	int count;

	if (image_parse_open_memory(&parse, data, len, &err) < 0) {
		image_content_fail(&content, "cannot read %s: %s", name, err.text);
	} else {
		elf_file_build_id(parse.file, content.build_id, sizeof(content.build_id));
		count = elf_file_segments(parse.file, &segments);
		for (int i = 0; i < count; i++)
			vec_push(&content.segments, segments[i]);
		image_parse_own(&parse);
		image_parse_end(&parse, &content.symbols);
	}
	image_parse_release(&parse);
	*ret_content = content;
}
