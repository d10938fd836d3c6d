// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_files.h"

#include <errno.h>
#include <string.h>

#include "base/hmap.h"
#include "elf/image_open.h"
#include "process/own_vdso.h"
#include "process/proc.h"
#include "wall/file_id.h"

/* As cfi_file_build_id() and image_build_id() give it: 64 bytes in hex. */
#define BUILD_ID_SIZE 129
/* A file has one or two executable segments; pieces of them are mapped by mprotect(). */
#define MAX_PLACES 64

/* A mapping's first byte in the file -> the file's own address; the same in all processes. */
struct segment_place {
	uint64_t offset, address;
	bool known; /* false: outside of its executable segments */
};

/*
 * Who has another file of the same content shares its rows. Only a file of the same owner, which nobody else
 * may write: what rows are made from is read piece by piece, so that an owner could change it in between.
 * Build ids are not always unique, so that size and the first page, with the headers, must agree, and then
 * all that rows are made from.
 */
#define HEAD_BYTES 4096

struct content {
	struct file_id id;
	char build_id[BUILD_ID_SIZE]; /* "" when it has none */
	uint64_t head_hash;
	struct cfi_digest digest;
	bool digested;
};

/* A process that maps a file: the way to open it again. */
struct source {
	struct file_key key;
	struct image *image; /* borrowed */
	uint64_t start, end;
	uint32_t pid;
};

struct unwind_file {
	uint32_t number;
	struct content content;
	struct cfi_file *cfi; /* owned; NULL: not open now */
	size_t cfi_bytes;
	uint64_t used; /* larger: later */
	VEC(struct segment_place) places;
	struct source source; /* image NULL: the vDSO */
	char *failure;	      /* owned; NULL: it can be read, as far as is known */
	uint64_t failed_pages;
};

/* An image that is no ELF file of this machine: code of a JIT. */
static struct unwind_file no_file;

struct unwind_files {
	struct image_cache *images;	 /* borrowed */
	struct hmap by_image;		 /* image -> file, or &no_file */
	struct hmap by_id;		 /* hash of its id -> file */
	struct hmap by_content;		 /* hash of build id and first page -> file */
	VEC(struct unwind_file *) files; /* owned; index + 1 is the number */
	VEC(struct unwind_file *) open;	 /* borrowed: those whose `cfi` is there */
	VEC(uint32_t) revived;
	size_t max_open, max_bytes, bytes;
	uint64_t uses;
	uint64_t idle_uses;	  /* `uses` when unwind_files_close_idle() last came by */
	struct unwind_file *vdso; /* borrowed from `files` */
	size_t vdso_len;
};

struct unwind_files *unwind_files_new(struct image_cache *images, size_t max_open, size_t max_bytes)
{
	struct unwind_files *files = xcalloc(1, sizeof(*files));

	files->images = images;
	files->max_open = max_open;
	files->max_bytes = max_bytes;
	return files;
}

void unwind_files_free(struct unwind_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->files.len; i++) {
		struct unwind_file *file = files->files.items[i];

		cfi_file_close(file->cfi);
		vec_release(&file->places);
		free(file->failure);
		free(file);
	}
	vec_release(&files->files);
	vec_release(&files->open);
	vec_release(&files->revived);
	hmap_release(&files->by_image);
	hmap_release(&files->by_id);
	hmap_release(&files->by_content);
	free(files);
}

void unwind_files_count(const struct unwind_files *files, size_t *ret_files, size_t *ret_open)
{
	*ret_files = files->files.len;
	*ret_open = files->open.len;
}

/* --- open files ------------------------------------------------------------------------------- */

static void close_at(struct unwind_files *files, size_t at)
{
	struct unwind_file *file = files->open.items[at];

	cfi_file_close(TAKE_PTR(file->cfi));
	files->bytes -= file->cfi_bytes;
	file->cfi_bytes = 0;
	vec_remove(&files->open, at, 1);
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
	file->cfi_bytes = cfi_file_bytes(file->cfi);
	files->bytes += file->cfi_bytes;
	file->used = ++files->uses;
	while (files->open.len > 1 &&
	       (files->open.len > files->max_open || files->bytes > files->max_bytes))
		close_oldest(files);
}

static void keep_open(struct unwind_files *files, struct unwind_file *file, struct cfi_file *cfi)
{
	file->cfi = cfi;
	vec_push(&files->open, file);
	account(files, file);
}

static int open_source_fd(const struct source *source)
{
	int fd = image_dup_fd(source->image);

	if (fd >= 0)
		return fd;
	return image_open_file(&source->key, source->pid, source->start, source->end,
			       image_path(source->image));
}

static int read_head(int fd, struct content *content)
{
	unsigned char head[HEAD_BYTES];
	int r = file_id_read(fd, &content->id);
	ssize_t len;

	if (r < 0)
		return r;
	content->id.shared |= file_id_is_served(fd);
	len = pread(fd, head, sizeof(head), 0);
	if (len < 0)
		return -errno;
	content->head_hash = hash_bytes(head, (size_t)len);
	return 0;
}

static int open_source(const struct source *source, struct cfi_file **ret_cfi,
		       struct content *ret_content, struct err *err)
{
	_cleanup_close_ int fd = open_source_fd(source);
	int r = fd < 0 ? fd : read_head(fd, ret_content);

	if (r < 0)
		return err_sys(err, r, "it cannot be opened");
	r = cfi_file_open(TAKE_FD(fd), ret_cfi, err);
	if (r == 0)
		snprintf(ret_content->build_id, sizeof(ret_content->build_id), "%s",
			 cfi_file_build_id(*ret_cfi));
	return r;
}

static bool digest(struct content *content, struct cfi_file *cfi)
{
	if (!content->digested)
		content->digested = cfi_file_digest(cfi, &content->digest) == 0;
	return content->digested;
}

static bool same_head(const struct content *a, const struct content *b)
{
	return a->id.size == b->id.size && a->head_hash == b->head_hash &&
	       strcmp(a->build_id, b->build_id) == 0;
}

/* So far as can be told without a look at all of it. */
static bool looks_alike(const struct content *a, const struct content *b)
{
	return a->build_id[0] && same_head(a, b) && a->id.owner == b->id.owner && !a->id.shared &&
	       !b->id.shared;
}

static bool same_digest(const struct content *a, const struct content *b)
{
	return memcmp(&a->digest, &b->digest, sizeof(a->digest)) == 0;
}

static void fail(struct unwind_file *file, const char *why)
{
	free(file->failure);
	file->failure = xstrdup(why);
}

/* What was just opened is what rows were made from: the same file, or that of a process with a copy. */
static bool is_still(struct unwind_file *file, struct content *content, struct cfi_file *cfi)
{
	if (file_id_same_file(&content->id, &file->content.id))
		return same_head(content, &file->content);
	return file->content.digested && looks_alike(content, &file->content) &&
	       digest(content, cfi) && same_digest(content, &file->content);
}

/* Open it again: the same content must be there. */
static int reopen(struct unwind_files *files, struct unwind_file *file)
{
	_cleanup_(cfi_file_closep) struct cfi_file *cfi = NULL;
	struct content content = { .build_id = "" };
	struct err err = { 0 };
	int r;

	if (file->cfi)
		return 0;
	if (file->failure)
		return -ESTALE;
	r = open_source(&file->source, &cfi, &content, &err);
	if (r == 0 && !is_still(file, &content, cfi))
		r = err_set(&err, -ESTALE, "another file has its name now");
	if (r < 0) {
		fail(file, err.text);
		return r;
	}
	keep_open(files, file, TAKE_PTR(cfi));
	return 0;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static struct unwind_file *add_file(struct unwind_files *files, const struct content *content)
{
	struct unwind_file *file = xcalloc(1, sizeof(*file));

	vec_push(&files->files, file);
	file->number = (uint32_t)files->files.len;
	file->content = *content;
	return file;
}

static uint64_t content_hash(const struct content *content)
{
	return hash_bytes(content->build_id, strlen(content->build_id)) ^ content->head_hash;
}

static struct unwind_file *find_file(const struct unwind_files *files, const struct file_id *id)
{
	struct unwind_file *file = hmap_find_ptr(&files->by_id, file_id_hash(id));

	return file && file_id_equal(&file->content.id, id) ? file : NULL;
}

/*
 * A file whose rows CONTENT, which CFI is opened from, may use. The other one may be closed and out of
 * reach, and then it is not shared: so is a file that is larger than what can be compared at once.
 */
static struct unwind_file *find_copy(struct unwind_files *files, struct content *content,
				     struct cfi_file *cfi)
{
	struct unwind_file *file = hmap_find_ptr(&files->by_content, content_hash(content));

	if (!file || file->failure || !looks_alike(&file->content, content) ||
	    !digest(content, cfi))
		return NULL;
	if (!file->content.digested &&
	    (reopen(files, file) < 0 || !digest(&file->content, file->cfi)))
		return NULL;
	return same_digest(&file->content, content) ? file : NULL;
}

static struct unwind_file *file_of_content(struct unwind_files *files, struct content *content,
					   struct cfi_file *cfi)
{
	struct unwind_file *file = find_file(files, &content->id);

	if (!file)
		file = find_copy(files, content, cfi);
	if (file)
		return file;
	file = add_file(files, content);
	hmap_put_ptr(&files->by_id, file_id_hash(&content->id), file);
	hmap_put_ptr(&files->by_content, content_hash(content), file);
	return file;
}

/* Look into an image that is new: &no_file, or NULL when it cannot be opened now. */
static struct unwind_file *examine(struct unwind_files *files, const struct source *source)
{
	_cleanup_(cfi_file_closep) struct cfi_file *cfi = NULL;
	struct unwind_file *file;
	struct content content = { .build_id = "" };
	struct err err = { 0 };
	int r = open_source(source, &cfi, &content, &err);

	if (r == -EBADMSG)
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
		       const struct source *source)
{
	bool other = file->source.image && file->source.pid != source->pid;

	if (other && !file->failure && proc_is_there(file->source.pid))
		return;
	if (other && file->failure) {
		free(TAKE_PTR(file->failure));
		vec_push(&files->revived, file->number);
	}
	file->source = *source;
}

static struct unwind_file *file_of_source(struct unwind_files *files, const struct source *source)
{
	struct unwind_file *file = hmap_find_ptr(&files->by_image, (uintptr_t)source->image);

	if (!image_was_looked_at(source->image))
		return &no_file;
	if (!file) {
		file = examine(files, source);
		if (!file)
			return &no_file;
		hmap_put_ptr(&files->by_image, (uintptr_t)source->image, file);
	}
	if (file != &no_file)
		set_source(files, file, source);
	return file;
}

static bool find_place(struct unwind_files *files, struct unwind_file *file, uint64_t offset,
		       uint64_t *ret_address)
{
	struct segment_place place = { .offset = offset };

	for (size_t i = 0; i < file->places.len; i++) {
		if (file->places.items[i].offset == offset) {
			*ret_address = file->places.items[i].address;
			return file->places.items[i].known;
		}
	}
	if (reopen(files, file) < 0)
		return false;
	place.known = cfi_file_address(file->cfi, offset, &place.address);
	if (file->places.len < MAX_PLACES)
		vec_push(&file->places, place);
	*ret_address = place.address;
	return place.known;
}

/* --- mappings --------------------------------------------------------------------------------- */

static struct unwind_file *vdso_file(struct unwind_files *files, uint64_t len)
{
	const struct content content = { .build_id = "" };
	struct cfi_file *cfi;
	const void *data;
	struct err err;

	if (!files->vdso && !files->vdso_len) {
		data = own_vdso(&files->vdso_len);
		if (data && cfi_file_open_memory(data, files->vdso_len, &cfi, &err) == 0) {
			files->vdso = add_file(files, &content);
			files->vdso->cfi = cfi; /* never closed, so not in `open` */
		}
	}
	return files->vdso && len == files->vdso_len ? files->vdso : &no_file;
}

static struct unwind_file *file_of_mapping(struct unwind_files *files, uint32_t pid,
					   const struct mapping *m, const struct file_id *seen)
{
	struct source source = {
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

	if (file == &no_file || !find_place(files, file, mapping->pgoff, &address))
		return (struct unwind_piece){ 0 };
	return (struct unwind_piece){ file->number, mapping->start - address };
}

/* --- rows ------------------------------------------------------------------------------------- */

void unwind_files_rows(struct unwind_files *files, uint32_t number, uint64_t address,
		       struct cfi_rows *rows)
{
	struct unwind_file *file = files->files.items[number - 1];
	const struct cfi_row none = { 0 };
	struct err err = { 0 };

	if (reopen(files, file) == 0) {
		if (cfi_file_page(file->cfi, address, rows, &err) == 0) {
			if (file != files->vdso)
				account(files, file);
			return;
		}
		fail(file, err.text);
	}
	file->failed_pages++;
	rows->v.len = 0;
	vec_push(&rows->v, none);
}

uint32_t unwind_files_take_revived(struct unwind_files *files)
{
	return files->revived.len ? files->revived.items[--files->revived.len] : 0;
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
}
