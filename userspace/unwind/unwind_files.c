// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_files.h"

#include <errno.h>
#include <string.h>

#include "elf/image_open.h"
#include "elf/reader/reader_cfi.h"
#include "process/own_vdso.h"
#include "process/proc.h"
#include "unwind/unwind_files_private.h"

/*
 * Readers that came to their end in calls about one file, in a row: the third that died, which may have been ended by somebody, or
 * the second that was late is the last. Those that came to their end by another file count next to nothing.
 */
enum { END_ELSEWHERE = 1, END_DEAD = 100, END_LATE = 150, MAX_ENDS = 300 };

/* A file has one or two executable segments; pieces of them are mapped by mprotect(). */
#define MAX_PLACES 64

/* An image that is no ELF file of this machine: code of a JIT. */
static struct unwind_file no_file = { .number = UINT32_MAX };

struct unwind_files *unwind_files_new(struct image_cache *images, size_t max_open, size_t max_bytes)
{
	struct unwind_files *files = xcalloc(1, sizeof(*files));

	files->images = images;
	files->cold = cold_files_new();
	files->max_open = max_open;
	files->max_bytes = max_bytes;
	files->room_bytes = UNWIND_FILES_ROOM_BYTES;
	return files;
}

void unwind_file_free(struct unwind_file *file)
{
	reader_cfi_close(file->cfi);
	vec_release(&file->places);
	free(file->failure);
	image_unref(file->source.image);
	free(file);
}

void unwind_files_free(struct unwind_files *files)
{
	if (!files)
		return;
	cold_files_free(files->cold);
	for (size_t i = 0; i < files->files.len; i++)
		unwind_file_free(files->files.items[i]);
	vec_release(&files->files);
	vec_release(&files->open);
	vec_release(&files->revived);
	hmap_release(&files->by_number);
	hmap_release(&files->by_id);
	hmap_release(&files->by_content);
	free(files);
}

/* --- open files ------------------------------------------------------------------------------- */

static void close_at(struct unwind_files *files, size_t at)
{
	struct unwind_file *file = files->open.items[at];

	reader_cfi_close(TAKE_PTR(file->cfi));
	files->bytes -= file->cfi_bytes;
	file->cfi_bytes = 0;
	vec_remove(&files->open, at, 1);
}

void unwind_files_close(struct unwind_files *files, const struct unwind_file *file)
{
	for (size_t i = 0; i < files->open.len; i++)
		if (files->open.items[i] == file) {
			close_at(files, i);
			return;
		}
}

/* Of a hundred a scan is cheaper than a list in order of use. */
static void close_oldest(struct unwind_files *files)
{
	size_t oldest = 0;

	for (size_t i = 1; i < files->open.len; i++)
		if (files->open.items[i]->used < files->open.items[oldest]->used)
			oldest = i;
	close_at(files, oldest);
}

void unwind_files_close_idle(struct unwind_files *files)
{
	for (size_t i = files->open.len; i-- > 0;)
		if (files->open.items[i]->used <= files->idle_uses)
			close_at(files, i);
	files->idle_uses = files->uses;
}

/* FILE was just used; what it holds may have grown. */
static void account(struct unwind_files *files, struct unwind_file *file)
{
	files->bytes -= file->cfi_bytes;
	file->cfi_bytes = reader_cfi_bytes(file->cfi);
	files->bytes += file->cfi_bytes;
	file->used = ++files->uses;
	while (files->open.len > 1 &&
	       (files->open.len > files->max_open || files->bytes > files->max_bytes))
		close_oldest(files);
}

static void keep_open(struct unwind_files *files, struct unwind_file *file, struct reader_cfi *cfi)
{
	file->cfi = cfi;
	vec_push(&files->open, file);
	account(files, file);
}

static void fail(struct unwind_file *file, const char *why)
{
	free(file->failure);
	file->failure = xstrdup(why);
}

/* A call has ended with R. May it be made again, of another reader? ENDS: the sum of those in calls about this file. */
static bool try_again(int r, unsigned int *ends)
{
	switch (r) {
	case -ESTALE: *ends += END_ELSEWHERE; break;
	case -ECHILD: *ends += END_DEAD; break;
	case -ETIMEDOUT: *ends += END_LATE; break;
	default: return false;
	}
	return *ends < MAX_ENDS;
}

/* Nothing of it is in memory: who waits for disks on a thread of his own reads first what is wanted. */
static void read_first(struct unwind_files *files, const struct unwind_source *source,
		       const struct file_id *id, uint32_t pid)
{
	int fd = unwind_source_fd(source);

	if (fd >= 0)
		cold_files_add(files->cold, source->image, fd, reader_owner(id), pid);
}

static void give_up(struct unwind_file *file, const char *why)
{
	fail(file, why);
	file->given_up = true;
	reader_note_refused(file->source.image ? image_path(file->source.image) : "[vdso]");
}

static int open_again(struct unwind_files *files, struct unwind_file *file, struct err *err)
{
	_cleanup_(reader_cfi_closep) struct reader_cfi *cfi = NULL;
	struct unwind_content content = { .build_id = "" };
	int r = unwind_source_open(&file->source, &cfi, &content, err);

	if (r == 0)
		r = unwind_content_check(&file->content, &content, cfi, err);
	if (r == 0)
		keep_open(files, file, TAKE_PTR(cfi));
	return r;
}

/* Open it again: the same content must be there. */
static int reopen(struct unwind_files *files, struct unwind_file *file)
{
	struct err err = { 0 };
	int r;

	if (file->cfi)
		return 0;
	if (file->failure)
		return -ESTALE;
	do
		r = open_again(files, file, &err);
	while (try_again(r, &file->ends));
	if (reader_has_gone(r))
		give_up(file, err.text);
	else if (r < 0 && r != -EBUSY && r != -EAGAIN)
		fail(file, err.text);
	return r;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static struct unwind_file *add_file(struct unwind_files *files,
				    const struct unwind_content *content)
{
	struct unwind_file *file = xcalloc(1, sizeof(*file));

	vec_push(&files->files, file);
	file->number = ++files->last_number;
	file->seen = files->evictions;
	file->content = *content;
	hmap_put_ptr(&files->by_number, file->number, file);
	return file;
}

static struct unwind_file *find_file(const struct unwind_files *files, const struct file_id *id)
{
	struct unwind_file *file = hmap_find_ptr(&files->by_id, file_id_hash(id));

	return file && file_id_equal(&file->content.id, id) ? file : NULL;
}

/* Is it still what its first rows were made of? Who writes a file anew that is open would have the old rows pass for the new ones. */
static bool is_as_it_was(const struct unwind_file *file)
{
	_cleanup_close_ int fd = file->source.image ? unwind_source_fd(&file->source) : -1;
	struct file_id id;

	return fd >= 0 && file_id_read(fd, &id) == 0 && file_id_same_file(&id, &file->content.id);
}

static bool digest_known(struct unwind_files *files, struct unwind_file *file)
{
	if (file->content.digested)
		return true;
	if (reopen(files, file) < 0 || unwind_content_digest(&file->content, file->cfi) < 0)
		return false;
	file->content.digested = is_as_it_was(file);
	return file->content.digested;
}

/*
 * A file whose rows CONTENT, which CFI is opened from, may use. The other one may be closed and out of
 * reach, and then it is not shared: so is a file that is larger than what can be compared at once.
 */
static struct unwind_file *find_copy(struct unwind_files *files, struct unwind_content *content,
				     struct reader_cfi *cfi)
{
	struct unwind_file *file = hmap_find_ptr(&files->by_content, unwind_content_hash(content));

	if (!file || file->failure || !unwind_content_looks_alike(&file->content, content) ||
	    unwind_content_digest(content, cfi) < 0)
		return NULL;
	if (!digest_known(files, file))
		return NULL;
	return unwind_content_same_digest(&file->content, content) ? file : NULL;
}

static struct unwind_file *file_of_content(struct unwind_files *files,
					   struct unwind_content *content, struct reader_cfi *cfi)
{
	struct unwind_file *file = find_file(files, &content->id);

	if (!file)
		file = find_copy(files, content, cfi);
	if (file)
		return file;
	file = add_file(files, content);
	hmap_put_ptr(&files->by_id, file_id_hash(&content->id), file);
	hmap_put_ptr(&files->by_content, unwind_content_hash(content), file);
	return file;
}

/* Look into an image that is new: &no_file, or NULL when it cannot be opened now. */
static struct unwind_file *examine(struct unwind_files *files, const struct unwind_source *source)
{
	_cleanup_(reader_cfi_closep) struct reader_cfi *cfi = NULL;
	struct unwind_file *file;
	struct unwind_content content = { .build_id = "" };
	struct err err = { 0 };
	unsigned int ends = 0;
	int r;

	if (cold_files_is_reading(files->cold, source->image, source->pid))
		return NULL;
	do
		r = unwind_source_open(source, &cfi, &content, &err);
	while (try_again(r, &ends));
	if (r == -EAGAIN)
		read_first(files, source, &content.id, source->pid);
	if (reader_has_gone(r))
		reader_note_refused(image_path(source->image));
	if (r == -EBADMSG || reader_has_gone(r))
		return &no_file;
	if (r < 0)
		return NULL;
	file = file_of_content(files, &content, cfi);
	if (!file->cfi)
		keep_open(files, file, TAKE_PTR(cfi));
	return file;
}

/*
 * Another process maps it: what could not be opened through the one that is known may be by this
 * one. Else the known one stays as long as it lives: it may well be a server, and this a script.
 */
static void set_source(struct unwind_files *files, struct unwind_file *file,
		       const struct unwind_source *source)
{
	bool other = file->source.image && file->source.pid != source->pid;

	if (other && !file->failure && unwind_source_lives(&file->source))
		return;
	if (other && file->failure && !file->given_up) {
		free(TAKE_PTR(file->failure));
		vec_push(&files->revived, file->number);
	}
	image_ref(source->image);
	image_unref(file->source.image);
	file->source = *source;
}

static struct unwind_file *file_of_source(struct unwind_files *files,
					  const struct unwind_source *source)
{
	uint32_t number = image_tables(source->image);
	struct unwind_file *file;

	if (!image_was_looked_at(source->image) || number == no_file.number)
		return &no_file;
	file = hmap_find_ptr(&files->by_number, number);
	if (!file) {
		file = examine(files, source);
		if (!file)
			return &no_file;
		image_set_tables(source->image, file->number);
	}
	if (file != &no_file)
		set_source(files, file, source);
	return file;
}

static bool find_place(struct unwind_files *files, struct unwind_file *file, uint32_t pid,
		       uint64_t offset, uint64_t *ret_address)
{
	struct segment_place place = { .offset = offset };
	int r;

	for (size_t i = 0; i < file->places.len; i++) {
		if (file->places.items[i].offset == offset) {
			*ret_address = file->places.items[i].address;
			return file->places.items[i].known;
		}
	}
	r = reopen(files, file);
	if (r == -EAGAIN)
		read_first(files, &file->source, &file->content.id, pid);
	if (r < 0)
		return false;
	place.known = reader_cfi_address(file->cfi, offset, &place.address);
	if (file->places.len < MAX_PLACES)
		vec_push(&file->places, place);
	*ret_address = place.address;
	return place.known;
}

/* --- mappings --------------------------------------------------------------------------------- */

static struct unwind_file *vdso_file(struct unwind_files *files, uint64_t len)
{
	const struct unwind_content content = { .build_id = "" };
	struct reader_cfi *cfi;
	const void *data;
	struct err err;

	if (!files->vdso && !files->vdso_len) {
		data = own_vdso(&files->vdso_len);
		if (data && reader_cfi_open_memory(data, files->vdso_len, &cfi, &err) == 0) {
			files->vdso = add_file(files, &content);
			files->vdso->cfi = cfi; /* never closed, so not in `open` */
		}
	}
	return files->vdso && len == files->vdso_len ? files->vdso : &no_file;
}

static struct unwind_file *file_of_mapping(struct unwind_files *files, uint32_t pid,
					   const struct mapping *m, const struct file_id *seen)
{
	struct unwind_source source = {
		.key = { m->key.major, m->key.minor, m->key.inode, m->key.generation },
		.start = m->start,
		.end = m->end,
		.pid = pid,
	};

	if (strcmp(m->path, "[vdso]") == 0)
		return vdso_file(files, m->end - m->start);
	if (m->key.inode == 0 || m->path[0] != '/')
		return &no_file;
	source.image = image_cache_open_seen(files->images, &source.key, pid, m->start, m->end,
					     m->path, seen);
	return file_of_source(files, &source);
}

struct unwind_piece unwind_files_piece(struct unwind_files *files, uint32_t pid,
				       const struct mapping *mapping, const struct file_id *seen)
{
	struct unwind_file *file = file_of_mapping(files, pid, mapping, seen);
	uint64_t address;

	if (file == &no_file || !find_place(files, file, pid, mapping->pgoff, &address))
		return (struct unwind_piece){ 0 };
	return (struct unwind_piece){ file->number, mapping->start - address };
}

/* --- rows ------------------------------------------------------------------------------------- */

static int make_rows(struct unwind_files *files, struct unwind_file *file, uint64_t address,
		     struct cfi_rows *rows, struct err *err)
{
	int r = reopen(files, file);

	if (r < 0)
		return file->failure ? -ENODATA : r;
	r = reader_cfi_page(file->cfi, address, rows, err);
	if (reader_has_gone(r) || r == -EAGAIN)
		unwind_files_close(files, file); /* its handle went with it */
	else if (r < 0)
		fail(file, err->text);
	else if (file != files->vdso)
		account(files, file);
	return r;
}

static void put_no_rows(struct unwind_file *file, struct cfi_rows *rows)
{
	const struct cfi_row none = { 0 };

	file->failed_pages++;
	rows->v.len = 0;
	vec_push(&rows->v, none);
}

bool unwind_files_rows(struct unwind_files *files, uint32_t number, uint64_t address,
		       struct cfi_rows *rows)
{
	struct unwind_file *file = hmap_find_ptr(&files->by_number, number);
	struct err err = { 0 };
	int r;

	if (file->source.image && cold_files_is_reading(files->cold, file->source.image, 0))
		return false;
	do
		r = make_rows(files, file, address, rows, &err);
	while (try_again(r, &file->ends));
	if (r == -EAGAIN) {
		read_first(files, &file->source, &file->content.id, 0);
		return false;
	}
	if (r == -EBUSY)
		return false;
	if (reader_has_gone(r))
		give_up(file, err.text);
	if (r == 0)
		file->ends = 0;
	else
		put_no_rows(file, rows);
	return true;
}

uint64_t unwind_files_delays(const struct unwind_files *files)
{
	return cold_files_told(files->cold);
}

uint32_t unwind_files_take_warmed(struct unwind_files *files)
{
	return cold_files_take_pid(files->cold);
}

uint32_t unwind_files_take_revived(struct unwind_files *files)
{
	return files->revived.len ? files->revived.items[--files->revived.len] : 0;
}
