// SPDX-License-Identifier: Apache-2.0
#include "elf/image_index.h"

#include <string.h>

/*
 * Of each process's mapping three ask: side-band, walks and names, the last when its samples are applied, a moment after. 1,000 new
 * processes a second tell of 4,000.
 */
#define MAPPING_SLOTS 4096
/* Before the last name of a path that was cut. */
#define CUT_HEAD "..."

void image_index_init(struct image_index *index)
{
	*index = (struct image_index){ 0 };
	index->mappings = xcalloc(MAPPING_SLOTS, sizeof(*index->mappings));
}

void image_index_release(struct image_index *index)
{
	hmap_release(&index->by_key);
	hmap_release(&index->by_id);
	hmap_release(&index->looked_at);
	vec_release(&index->due);
	free(index->mappings);
}

static uint64_t key_hash(const struct file_key *key)
{
	uint64_t parts[2] = { (uint64_t)key->major << 32 | key->minor, key->inode };

	return hash_bytes(parts, sizeof(parts));
}

static bool same_path(const char *a, const char *b)
{
	static const char deleted[] = " (deleted)";
	size_t a_len = strlen(a), b_len = strlen(b), len = MIN(a_len, b_len);

	return memcmp(a, b, len) == 0 &&
	       (a_len == b_len || strcmp(a + len, deleted) == 0 || strcmp(b + len, deleted) == 0);
}

const char *image_index_cut_path(const char *path, char ret_cut[IMAGE_CUT_BYTES])
{
	const char *slash = strrchr(path, '/');

	snprintf(ret_cut, IMAGE_CUT_BYTES, CUT_HEAD "%.*s", IMAGE_CUT_BYTES - 4,
		 slash ? slash : path);
	return ret_cut;
}

static bool has_path(const struct image *image, const char *path)
{
	char cut[IMAGE_CUT_BYTES];

	return same_path(image->path, path) ||
	       (image->path[0] == CUT_HEAD[0] &&
		same_path(image->path, image_index_cut_path(path, cut)));
}

/*
 * Inode numbers are given again soon after a file is deleted. The generation tells such files
 * apart where the source knows it; /proc/PID/maps does not.
 */
static bool may_have_key(const struct image *image, const struct file_key *key)
{
	return file_key_same(&image->key, key) && (!image->key.generation || !key->generation ||
						   image->key.generation == key->generation);
}

struct image *image_index_find_key(const struct image_index *index, const struct file_key *key,
				   const char *path)
{
	struct image *image = hmap_find_ptr(&index->by_key, key_hash(key));

	while (image && !((image->certain || image->never_opened || !image->key.inode) &&
			  may_have_key(image, key) && has_path(image, path)))
		image = image->twin;
	return image;
}

struct image *image_index_find(const struct image_index *index, const struct file_id *id,
			       const char *path)
{
	struct image *image = hmap_find_ptr(&index->by_id, file_id_hash(id));

	while (image && !(file_id_equal(&image->id, id) && has_path(image, path)))
		image = image->like;
	return image;
}

void image_index_add(struct image_index *index, struct image *image)
{
	uint64_t hash = key_hash(&image->key);

	image->twin = hmap_find_ptr(&index->by_key, hash);
	hmap_put_ptr(&index->by_key, hash, image);
}

void image_index_set_id(struct image_index *index, struct image *image, const struct file_id *id)
{
	uint64_t hash = file_id_hash(id);

	image->id = *id;
	image->like = hmap_find_ptr(&index->by_id, hash);
	hmap_put_ptr(&index->by_id, hash, image);
}

static void unlink_twin(struct image_index *index, const struct image *image)
{
	uint64_t hash = key_hash(&image->key);
	struct image *at = hmap_find_ptr(&index->by_key, hash);

	if (at == image && image->twin) {
		hmap_put_ptr(&index->by_key, hash, image->twin);
	} else if (at == image) {
		hmap_remove(&index->by_key, hash);
	} else {
		while (at && at->twin != image)
			at = at->twin;
		if (at)
			at->twin = image->twin;
	}
}

static void unlink_like(struct image_index *index, const struct image *image)
{
	uint64_t hash = file_id_hash(&image->id);
	struct image *at = hmap_find_ptr(&index->by_id, hash);

	if (at == image && image->like) {
		hmap_put_ptr(&index->by_id, hash, image->like);
	} else if (at == image) {
		hmap_remove(&index->by_id, hash);
	} else {
		while (at && at->like != image)
			at = at->like;
		if (at)
			at->like = image->like;
	}
}

void image_index_remove(struct image_index *index, struct image *image)
{
	unlink_twin(index, image);
	unlink_like(index, image);
}

bool image_index_may_know(const struct image_index *index, const struct file_key *key,
			  const char *path)
{
	const struct image *image = hmap_find_ptr(&index->by_key, key_hash(key));

	while (image && !(file_key_same(&image->key, key) && has_path(image, path)))
		image = image->twin;
	return image != NULL;
}

/* --- mapped since it was seen ----------------------------------------------------------------- */

/*
 * Two subvolumes of btrfs have the same inode numbers, on what the kernel's records call one device: there a number says nothing.
 * Where stat() has that device, too, a mapped inode is the only one with its number.
 */
static bool is_named_by(const struct image *image, const struct file_key *key)
{
	return file_key_same(&image->key, key) && file_id_has_key(&image->id, key);
}

/* The newest image that is named by KEY: what the file was last. */
static struct image *find_named(const struct image_index *index, const struct file_key *key,
				const char *path)
{
	struct image *image = hmap_find_ptr(&index->by_key, key_hash(key));

	while (image && !(is_named_by(image, key) && has_path(image, path)))
		image = image->twin;
	return image && !image->never_opened && image->state != IMAGE_DROPPED ? image : NULL;
}

struct image *image_index_note(struct image_index *index, const struct image_mapping *mapping,
			       const char *path)
{
	struct image *image = find_named(index, &mapping->key, path);
	struct image_mapping noted = *mapping;

	if (!image || !may_have_key(image, &mapping->key))
		return NULL;
	image->mapped = noted.mapped = ++index->notes;
	image->place = (struct image_place){ mapping->start, mapping->end, mapping->pid };
	if (!image->is_due)
		vec_push(&index->due, image_ref(image));
	image->is_due = true;
	image_index_remember(index, &noted, image);
	return image;
}

struct image *image_index_find_seen(const struct image_index *index, const struct file_key *key,
				    const char *path)
{
	struct image *image = find_named(index, key, path);

	return image && key->generation && image->key.generation == key->generation &&
			       image->seen >= image->mapped
		       ? image
		       : NULL;
}

void image_index_see(struct image_index *index, struct image *image,
		     const struct image_mapping *mapping)
{
	if (!is_named_by(image, &mapping->key))
		return;
	if (!image->key.generation)
		image->key.generation = mapping->key.generation;
	image->seen = index->notes;
}

struct image *image_index_take_due(struct image_index *index)
{
	struct image *image;

	while (index->due.len) {
		image = index->due.items[--index->due.len];
		image->is_due = false;
		if (image->seen < image->mapped && image->state != IMAGE_DROPPED)
			return image;
		image_unref(image);
	}
	return NULL;
}

/* --- mappings that were asked for --- */

static struct image_mapping *slot_of(const struct image_index *index,
				     const struct image_mapping *mapping)
{
	const uint64_t parts[] = { mapping->start, mapping->pid, mapping->key.inode,
				   mapping->key.generation };

	return &index->mappings[hash_bytes(parts, sizeof(parts)) % MAPPING_SLOTS];
}

struct image *image_index_recall(const struct image_index *index,
				 const struct image_mapping *mapping, const char *path)
{
	const struct image_mapping *known = slot_of(index, mapping);

	return known->image && known->pid == mapping->pid && known->start == mapping->start &&
			       known->end == mapping->end &&
			       file_key_same(&known->key, &mapping->key) &&
			       known->key.generation == mapping->key.generation &&
			       known->image->state != IMAGE_DROPPED &&
			       !known->image->never_opened && known->image->seen >= known->mapped &&
			       has_path(known->image, path)
		       ? known->image
		       : NULL;
}

void image_index_remember(struct image_index *index, const struct image_mapping *mapping,
			  struct image *image)
{
	struct image_mapping *slot = slot_of(index, mapping);

	*slot = *mapping;
	slot->image = image;
}

void image_index_forget_mappings(struct image_index *index)
{
	memset(index->mappings, 0, MAPPING_SLOTS * sizeof(*index->mappings));
	hmap_clear(&index->looked_at);
}

void image_index_forget_going(struct image_index *index)
{
	for (size_t i = 0; i < MAPPING_SLOTS; i++)
		if (index->mappings[i].image && index->mappings[i].image->going)
			index->mappings[i].image = NULL;
}

bool image_index_may_look(struct image_index *index, uint32_t pid)
{
	uint64_t looks = 0;

	hmap_get(&index->looked_at, pid, &looks);
	if (pid && looks >= IMAGE_MAX_LOOKS)
		return false;
	hmap_put(&index->looked_at, pid, looks + 1);
	return true;
}
