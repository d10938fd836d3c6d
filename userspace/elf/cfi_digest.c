// SPDX-License-Identifier: Apache-2.0
/* Are two files the same, for what rows are made from? */
#include <errno.h>
#include <sys/random.h>
#include <xxhash.h>

#include "elf/cfi/cfi_file_private.h"

/* libjvm has 4 MB, and it takes a millisecond for each 5. */
#define MAX_DIGEST_BYTES (16U << 20)
#define DIGEST_PIECE	 (64U << 10)

struct digest {
	XXH3_state_t *state; /* owned */
	uint64_t left;	     /* bytes that may be read */
};

static uint64_t digest_seed(void)
{
	static uint64_t seed;

	if (!seed && getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		seed = (uintptr_t)&seed;
	return seed;
}

void cfi_digest_begin(void)
{
	(void)digest_seed();
}

static void digest_words(struct digest *digest, const uint64_t *words, size_t count)
{
	XXH3_128bits_update(digest->state, words, count * sizeof(*words));
}

/* Up to LEN bytes at OFFSET; what the file does not have is not there. */
static void digest_bytes(struct digest *digest, struct cfi_reader *reader, uint64_t offset,
			 uint64_t len)
{
	_cleanup_free_ uint8_t *piece = NULL;
	size_t n;

	digest_words(digest, (const uint64_t[]){ offset, len }, 2);
	len = offset < reader->len ? MIN(len, reader->len - offset) : 0;
	if (len > digest->left) {
		digest->left = 0;
		return;
	}
	digest->left -= len;
	piece = xmalloc(DIGEST_PIECE);
	for (; len; offset += n, len -= n) {
		n = cfi_reader_copy(reader, offset, piece, MIN(len, (uint64_t)DIGEST_PIECE));
		if (!n)
			return;
		XXH3_128bits_update(digest->state, piece, n);
	}
}

static void digest_layer(struct digest *digest, const struct cfi_layer *layer)
{
	const struct cfi_section *section = &layer->section;
	const struct fde_index *index = &layer->index;
	const uint64_t words[] = { section->address, section->debug,	layer->go,
				   index->own.len,   index->table_base, index->table_count };

	digest_words(digest, words, ARRAY_SIZE(words));
	if (index->table_offset)
		digest_bytes(digest, section->reader, index->table_offset,
			     index->table_count * FDE_INDEX_ENTRY_BYTES);
	if (index->table_offset || index->own.len)
		digest_bytes(digest, section->reader, section->offset, section->size);
}

/* What was found in text and symbols when it was opened. */
static void digest_findings(struct digest *digest, const struct cfi_file *file)
{
	const struct go_place *go = &file->go.at;
	const struct elf_segment *segment;
	const struct cfi_root *root;

	vec_for_each (segment, &file->segments)
		digest_words(digest,
			     (const uint64_t[]){ segment->offset, segment->address,
						 segment->file_size, segment->memory_size,
						 segment->flags },
			     5);
	vec_for_each (root, &file->roots.v)
		digest_words(digest,
			     (const uint64_t[]){ root->start, root->end, root->rule.kind,
						 (uint64_t)root->rule.cfa_offset,
						 (uint64_t)root->rule.cfa_add, root->rule.ra_slot,
						 root->rule.rbp_slot, root->framed },
			     8);
	for (size_t i = 0; i < file->linkage.count; i++) {
		const struct cfi_linkage_part *part = &file->linkage.parts[i];

		digest_words(digest,
			     (const uint64_t[]){ part->start, part->pushed, part->popped, part->end,
						 part->rbp },
			     5);
	}
	digest_words(digest,
		     (const uint64_t[]){ file->rust_main.start, file->rust_main.end, go->text,
					 go->count, go->names, go->pctab, go->functab, go->form,
					 go->code },
		     9);
}

struct digest_gaps {
	struct digest *digest;
	struct cfi_reader *reader;
};

static void digest_gap(uint64_t offset, uint64_t len, void *data)
{
	const struct digest_gaps *gaps = data;

	digest_bytes(gaps->digest, gaps->reader, offset, len);
}

/* Code that rows are inferred from. */
static void digest_code(struct digest *digest, struct cfi_file *file)
{
	struct infer_file *infer = &file->infer;
	struct digest_gaps gaps = { digest, &file->reader };

	if (!infer->reader)
		return;
	infer_file_read_places(infer);
	digest_words(digest, infer->begins.items, infer->begins.len);
	digest_words(digest, infer->pointers.v.items, infer->pointers.v.len);
	infer_file_for_each_gap(infer, digest_gap, &gaps);
}

int cfi_file_digest(struct cfi_file *file, struct cfi_digest *ret_digest)
{
	struct digest digest = { XXH3_createState(), MAX_DIGEST_BYTES };
	XXH128_hash_t hash;

	if (!digest.state)
		return -ENOMEM;
	XXH3_128bits_reset_withSeed(digest.state, digest_seed());
	digest_findings(&digest, file);
	digest_layer(&digest, &file->eh_frame);
	digest_layer(&digest, &file->debug_frame);
	if (file->go.reader)
		digest_bytes(&digest, &file->reader, file->go.at.offset, file->go.at.size);
	digest_code(&digest, file);
	hash = XXH3_128bits_digest(digest.state);
	XXH3_freeState(digest.state);
	if (!digest.left || file->reader.error)
		return digest.left ? file->reader.error : -E2BIG;
	*ret_digest = (struct cfi_digest){ { hash.low64, hash.high64 } };
	return 0;
}
