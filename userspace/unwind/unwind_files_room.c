// SPDX-License-Identifier: Apache-2.0
/* Files that no process has published: how many stay, and what is told of those that do not. */
#include <stdlib.h>

#include "unwind/unwind_files_private.h"

/* Three tables, what malloc() takes, and the image that it holds, but for its symbols (image_bytes()). */
#define KEEP_BYTES (160 + 1024)
/* Of the room: so much more than at the last look is worth another one. */
#define ENOUGH_SHARE 8

void unwind_files_count(const struct unwind_files *files, size_t *ret_files, size_t *ret_open)
{
	*ret_files = files->files.len;
	*ret_open = files->open.len;
}

void unwind_files_set_room(struct unwind_files *files, size_t room_bytes)
{
	files->room_bytes = room_bytes;
	files->enough_bytes = 0;
}

bool unwind_files_has(const struct unwind_files *files, uint32_t number)
{
	return hmap_find_ptr(&files->by_number, number) != NULL;
}

void unwind_files_mark(struct unwind_files *files, uint32_t number)
{
	struct unwind_file *file = hmap_find_ptr(&files->by_number, number);

	if (file)
		file->seen = files->evictions + 1;
}

static size_t bytes_of(const struct unwind_file *file)
{
	return sizeof(*file) + file->places.cap * sizeof(*file->places.items) + KEEP_BYTES;
}

static void remove_value(struct hmap *map, uint64_t key, const struct unwind_file *file)
{
	if (hmap_find_ptr(map, key) == file)
		hmap_remove(map, key);
}

static void forget(struct unwind_files *files, struct unwind_file *file)
{
	unwind_files_close(files, file);
	hmap_remove(&files->by_number, file->number);
	remove_value(&files->by_id, file_id_hash(&file->content.id), file);
	remove_value(&files->by_content, unwind_content_hash(&file->content), file);
	files->gone_pages += file->failed_pages;
	unwind_file_free(file);
}

static int compare_seen(const void *a, const void *b)
{
	const struct unwind_file *x = *(struct unwind_file *const *)a;
	const struct unwind_file *y = *(struct unwind_file *const *)b;

	if (x->seen != y->seen)
		return x->seen < y->seen ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

bool unwind_files_are_many(const struct unwind_files *files)
{
	size_t all = files->files.len * (sizeof(struct unwind_file) + KEEP_BYTES);

	return all > MAX(files->room_bytes, files->enough_bytes);
}

static size_t count_bytes(const struct unwind_files *files, bool of_all)
{
	struct unwind_file *const *at;
	size_t bytes = 0;

	vec_for_each (at, &files->files)
		if (of_all || (*at)->seen < files->evictions)
			bytes += bytes_of(*at);
	return bytes;
}

/* Oldest first, until those that nobody has published take LEFT. */
static void evict(struct unwind_files *files, size_t bytes, size_t left)
{
	size_t kept = 0;

	qsort(files->files.items, files->files.len, sizeof(*files->files.items), compare_seen);
	for (size_t i = 0; i < files->files.len; i++) {
		struct unwind_file *file = files->files.items[i];

		if (bytes <= left || file->seen == files->evictions || file == files->vdso) {
			files->files.items[kept++] = file;
			continue;
		}
		bytes -= bytes_of(file);
		forget(files, file);
	}
	files->files.len = kept;
}

bool unwind_files_evict(struct unwind_files *files)
{
	size_t room = files->room_bytes, before = files->files.len, bytes;

	files->evictions++;
	bytes = count_bytes(files, false);
	if (bytes > room)
		evict(files, bytes, room - room / ENOUGH_SHARE);
	files->enough_bytes = count_bytes(files, true) + room / ENOUGH_SHARE;
	return files->files.len < before;
}

void unwind_files_for_each_failed(const struct unwind_files *files,
				  void (*fn)(const char *path, const char *why, uint64_t pages,
					     void *data),
				  void *data)
{
	for (size_t i = 0; i < files->files.len; i++) {
		const struct unwind_file *file = files->files.items[i];

		if (file->failed_pages)
			fn(file->source.image ? image_path(file->source.image) : "[vdso]",
			   file->failure ? file->failure : "it could not be read for a while",
			   file->failed_pages, data);
	}
	if (files->gone_pages)
		fn("(other files)", "nobody maps them any more", files->gone_pages, data);
}
