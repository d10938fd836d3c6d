// SPDX-License-Identifier: Apache-2.0
#include "unwind/exits/code_pages.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/macros.h"
#include "unwind/cursor.h"

#define PAGE_BYTES  4096
#define PIECE_PAGES 4
#define PIECE_BYTES (PIECE_PAGES * PAGE_BYTES)
#define PIECES	    64
/* Code that is made meanwhile comes so late. */
#define KEPT_NS (50 * NSEC_PER_MSEC)

struct piece {
	uint64_t address, until_ns; /* 0: it is none */
	uint32_t pid;
	uint32_t readable; /* a bit for each page */
	uint8_t bytes[PIECE_BYTES];
};

struct code_pages {
	struct piece pieces[PIECES];
};

struct code_pages *code_pages_new(void)
{
	return xcalloc(1, sizeof(struct code_pages));
}

void code_pages_free(struct code_pages *pages)
{
	free(pages);
}

bool code_pages_drop(struct code_pages *pages, uint32_t pid, uint64_t now_ns)
{
	bool dropped = false;

	for (size_t i = 0; i < PIECES; i++) {
		struct piece *piece = &pages->pieces[i];

		if (piece->pid == pid && piece->until_ns && piece->until_ns < now_ns + KEPT_NS) {
			piece->until_ns = 0;
			dropped = true;
		}
	}
	return dropped;
}

/* As a rule all of it is there. */
static void read_piece(struct piece *piece, const struct code_source *source)
{
	piece->readable = (1U << PIECE_PAGES) - 1;
	if (!source->read(source->data, piece->address, piece->bytes, PIECE_BYTES))
		return;
	piece->readable = 0;
	for (uint32_t i = 0; i < PIECE_PAGES; i++) {
		size_t at = (size_t)i * PAGE_BYTES;

		if (!source->read(source->data, piece->address + at, piece->bytes + at, PAGE_BYTES))
			piece->readable |= 1U << i;
	}
}

static const struct piece *piece_at(struct code_pages *pages, const struct code_source *source,
				    uint64_t address, uint64_t now_ns)
{
	struct piece *piece =
		&pages->pieces[cursor_hash(address / PIECE_BYTES ^ source->pid) % PIECES];

	if (piece->address == address && piece->pid == source->pid && now_ns < piece->until_ns)
		return piece;
	piece->address = address;
	piece->pid = source->pid;
	piece->until_ns = now_ns + KEPT_NS;
	read_piece(piece, source);
	return piece;
}

/* Of one page. */
static size_t read_page(struct code_pages *pages, const struct code_source *source,
			uint64_t address, uint64_t now_ns, uint8_t *dst, size_t len)
{
	const uint64_t at = address % PIECE_BYTES;
	const struct piece *piece = piece_at(pages, source, address - at, now_ns);

	if (!(piece->readable & 1U << at / PAGE_BYTES))
		return 0;
	memcpy(dst, piece->bytes + at, len);
	return len;
}

size_t code_pages_read(struct code_pages *pages, const struct code_source *source, uint64_t address,
		       uint64_t now_ns, uint8_t *dst, size_t len)
{
	const size_t first = MIN(len, PAGE_BYTES - address % PAGE_BYTES);
	size_t got = read_page(pages, source, address, now_ns, dst, first);

	if (got == first && got < len)
		got += read_page(pages, source, address + first, now_ns, dst + first, len - first);
	return got;
}
