/* SPDX-License-Identifier: Apache-2.0 */
#include "session/malloc/malloc_files.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "elf/infer/infer_entry.h"
#include "elf/reader/reader_file.h"
#include "wall/wall.h"

/* A longer function there is none; what a file states may be anything. */
#define MAX_FUNCTION_BYTES (1U << 20)

/* GENERATION: 0, as not everybody who knows a file knows it. */
static uint64_t hash_key(const struct file_key *key, uint64_t generation)
{
	const uint64_t words[] = { (uint64_t)key->major << 32 | key->minor, key->inode,
				   generation };

	return hash_bytes(words, sizeof(words));
}

static void free_file(struct malloc_file *file)
{
	vec_release(&file->places);
	free(file);
}

void malloc_files_release(struct malloc_files *all)
{
	for (size_t i = 0; i < all->files.len; i++)
		free_file(all->files.items[i]);
	vec_release(&all->files);
	hmap_release(&all->by_key);
	hmap_release(&all->without);
}

const struct malloc_file *malloc_files_find(const struct malloc_files *all,
					    const struct file_key *key)
{
	return key->inode ? hmap_find_ptr(&all->by_key, hash_key(key, 0)) : NULL;
}

/* --- its functions --- */

static bool has_offset(const struct malloc_file *file, uint64_t offset)
{
	const struct malloc_place *place;

	vec_for_each (place, &file->places)
		if (place->offset == offset)
			return true;
	return false;
}

/* A name that only the file itself uses is no function that others call. */
static bool is_wanted(const struct malloc_function *function, const struct reader_function *found)
{
	return found->address != READER_NOT_THERE &&
	       (found->rank >= ELF_RANK_SHARED || function->form == WIRE_MALLOC_FORMS);
}

/* Not where a reader may not have meant. */
static uint64_t probe_of(const struct reader_function *function)
{
	return function->probe <= INFER_ENTRY_FAR && function->probe < function->size
		       ? function->probe
		       : 0;
}

static bool has_allocator(const struct malloc_file *file, const struct reader_function *functions)
{
	for (unsigned int i = 0; i < MALLOC_FUNCTIONS; i++)
		if (functions[i].address != READER_NOT_THERE &&
		    malloc_function_is_allocators(&malloc_functions[i]))
			return true;
	return file->kind == MALLOC_ALLOCATOR;
}

void malloc_file_take(struct malloc_file *file, const struct reader_function *functions,
		      const struct elf_segment *segments, size_t count)
{
	bool gives = false, allocator = has_allocator(file, functions);

	for (unsigned int i = 0; i < MALLOC_FUNCTIONS; i++) {
		/* Only code that is in the file can be probed. */
		const struct elf_segment *code =
			elf_segment_find(segments, count, PF_X, functions[i].address);
		struct malloc_place place = { .size = MIN(functions[i].size, MAX_FUNCTION_BYTES),
					      .form = malloc_functions[i].form };

		if (!is_wanted(&malloc_functions[i], &functions[i]) ||
		    (malloc_function_is_cxx(&malloc_functions[i]) && !allocator) || !code)
			continue;
		place.offset = elf_segment_offset(code, functions[i].address);
		if (has_offset(file, place.offset))
			continue;
		place.probe = place.offset + probe_of(&functions[i]);
		gives |= place.form == WIRE_MALLOC_SIZE;
		vec_push(&file->places, place);
	}
	/* Whoever has but a free() of his own has no memory. */
	if (!gives)
		file->places.len = 0;
}

const struct malloc_place *malloc_file_place(const struct malloc_file *file, uint64_t offset)
{
	const struct malloc_place *place;

	vec_for_each (place, &file->places)
		if (place->form != WIRE_MALLOC_FREE && offset >= place->offset &&
		    offset - place->offset < place->size)
			return place;
	return NULL;
}

/* --- reading it --- */

static int read_functions(int fd, struct malloc_file *file)
{
	struct reader_function functions[MALLOC_FUNCTIONS];
	const char *names[MALLOC_FUNCTIONS];
	struct reader_file layout;
	struct err ignored;
	int r = reader_file_read(fd, &layout, &ignored);

	if (r < 0)
		return r;
	for (unsigned int i = 0; i < MALLOC_FUNCTIONS; i++)
		names[i] = malloc_functions[i].name;
	r = reader_functions(fd, names, MALLOC_FUNCTIONS, functions, &ignored);
	if (r == 0)
		malloc_file_take(file, functions, layout.segments.items, layout.segments.len);
	reader_file_release(&layout);
	return r;
}

static bool has_room(const struct malloc_files *all, uint32_t owner)
{
	unsigned int of_owner = 0;

	for (size_t i = 0; i < all->files.len; i++)
		of_owner += all->files.items[i]->owner == owner;
	return all->files.len < MALLOC_MAX_OF_ALL && (!owner || of_owner < MALLOC_MAX_OF_ONE);
}

/* NULL: it has none of the functions. */
static struct malloc_file *read_file(struct malloc_files *all, uint32_t pid,
				     const struct mapping *m)
{
	_cleanup_close_ int fd = -1;
	char path[WALL_LINK_BYTES];
	struct malloc_file *file;
	struct stat st;

	wall_link(pid, m->start, m->end, path);
	fd = wall_open(pid, path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	file = xcalloc(1, sizeof(*file));
	file->key = m->key;
	file->kind = malloc_kind_of(m->path);
	file->owner = st.st_uid;
	if (read_functions(fd, file) == 0 && file->places.len) {
		if (has_room(all, file->owner))
			return file;
		all->refused++;
	}
	free_file(file);
	return NULL;
}

struct malloc_file *malloc_files_get(struct malloc_files *all, uint32_t pid,
				     const struct mapping *m)
{
	uint64_t hash = hash_key(&m->key, 0), exact = hash_key(&m->key, m->key.generation), known;
	struct malloc_file *file = hmap_find_ptr(&all->by_key, hash);

	if (file || !m->key.inode || malloc_kind_of(m->path) == MALLOC_NONE ||
	    hmap_get(&all->without, exact, &known))
		return file;
	file = read_file(all, pid, m);
	if (file) {
		vec_push(&all->files, file);
		hmap_put_ptr(&all->by_key, hash, file);
		return file;
	}
	if (all->without.len >= MALLOC_MAX_WITHOUT)
		hmap_clear(&all->without);
	hmap_put(&all->without, exact, 1);
	return NULL;
}
