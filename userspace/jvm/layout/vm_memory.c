/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/layout/vm_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "wall/wall.h"

#define PAGE_BYTES 4096
/* Tables of 0.2 MB and their strings are read in one sweep; neighbours share pages. */
#define GROUP_PAGES 8
#define GROUP_BYTES ((uint64_t)GROUP_PAGES * PAGE_BYTES)
#define PLACES	    16
/* The largest tables, of JDK 17, have 190 pages: who has more of them takes our time. */
#define MAX_FETCHES 1024

/* Two pieces cost more than the bytes that lie between them. */
#define MAX_GAP_BYTES 256

/* Spans that are read as one piece: what is between them is in the pages of either, and there when they are. */
struct sweep {
	struct wall_piece pieces[VM_MEMORY_MAX_SPANS];
	uint16_t piece_of[VM_MEMORY_MAX_SPANS]; /* of each span */
	unsigned int count;
	size_t bytes;
};

/* Make PIECE hold SPAN, too. False: it lies elsewhere. */
static bool widen(struct wall_piece *piece, const struct vm_span *span)
{
	uint64_t end = piece->address + piece->len, span_end = span->address + span->len;
	uint64_t first = MIN(piece->address, span->address), behind = MAX(end, span_end);

	if (span->address > end + MAX_GAP_BYTES || piece->address > span_end + MAX_GAP_BYTES)
		return false;
	*piece = (struct wall_piece){ first, behind - first };
	return true;
}

/* Behind what is there. Only spans that follow each other are read together: callers rely on the order in which they are read. */
static void plan_sweep(struct sweep *sweep, unsigned int first_span, const struct vm_span *spans,
		       unsigned int count)
{
	unsigned int first = sweep->count;

	for (unsigned int i = 0; i < count; i++) {
		if (sweep->count == first || !widen(&sweep->pieces[sweep->count - 1], &spans[i]))
			sweep->pieces[sweep->count++] =
				(struct wall_piece){ spans[i].address, spans[i].len };
		sweep->piece_of[first_span + i] = (uint16_t)(sweep->count - 1);
	}
	sweep->bytes += wall_pieces_bytes(sweep->pieces + first, sweep->count - first);
}

/* DATA is that of the first span's piece. */
static void give_spans(const struct sweep *sweep, unsigned int first_span, const char *data,
		       const struct vm_span *spans, unsigned int count)
{
	const uint16_t *piece_of = sweep->piece_of + first_span;
	unsigned int piece = count ? piece_of[0] : 0;

	for (unsigned int i = 0; i < count; i++) {
		for (; piece < piece_of[i]; piece++)
			data += sweep->pieces[piece].len;
		memcpy(spans[i].data, data + (spans[i].address - sweep->pieces[piece].address),
		       spans[i].len);
	}
}

/* N of BYTES came, or an error. */
static int all_or_nothing(int64_t n, size_t bytes)
{
	if (n < 0)
		return (int)n;
	return (size_t)n == bytes ? 0 : -EFAULT;
}

static int read_process(const struct vm_memory *memory, const struct vm_span *spans,
			unsigned int count)
{
	_cleanup_free_ char *data = NULL;
	struct sweep sweep;
	int64_t n;
	int r;

	if (count > VM_MEMORY_MAX_SPANS)
		return -E2BIG;
	sweep.count = 0;
	sweep.bytes = 0;
	plan_sweep(&sweep, 0, spans, count);
	data = count == 1 ? NULL : xmalloc(sweep.bytes);
	n = wall_read_memory(memory->pid, sweep.pieces, sweep.count, data ? data : spans[0].data);
	r = all_or_nothing(n, sweep.bytes);
	if (!r && data)
		give_spans(&sweep, 0, data, spans, count);
	return r;
}

static void give_parts(const struct sweep *sweep, const struct wall_part *asked, const char *data,
		       struct vm_part *parts, unsigned int count)
{
	const struct wall_piece *pieces = sweep->pieces;
	unsigned int first_span = 0;

	for (unsigned int i = 0; i < count; i++) {
		size_t bytes = wall_pieces_bytes(pieces, asked[i].count);

		parts[i].result = all_or_nothing(asked[i].result, bytes);
		if (!parts[i].result)
			give_spans(sweep, first_span, data, parts[i].spans, parts[i].count);
		first_span += parts[i].count;
		data += bytes;
		pieces += asked[i].count;
	}
}

static void read_processes(struct vm_part *parts, unsigned int count)
{
	_cleanup_free_ char *data = NULL;
	struct wall_part asked[WALL_MAX_PARTS];
	struct sweep sweep;
	unsigned int spans = 0;
	int r;

	sweep.count = 0;
	sweep.bytes = 0;
	for (unsigned int i = 0; i < count; i++) {
		unsigned int first = sweep.count;

		plan_sweep(&sweep, spans, parts[i].spans, parts[i].count);
		spans += parts[i].count;
		asked[i] = (struct wall_part){ parts[i].memory->pid, sweep.count - first, 0 };
	}
	data = xmalloc(sweep.bytes);
	r = wall_read_parts(asked, count, sweep.pieces, data);
	for (unsigned int i = 0; r && i < count; i++)
		parts[i].result = r;
	if (!r)
		give_parts(&sweep, asked, data, parts, count);
}

void vm_memory_read_parts(struct vm_part *parts, unsigned int count)
{
	unsigned int processes = 0, spans = 0;

	for (unsigned int i = 0; i < count; i++) {
		processes += parts[i].memory->read == read_process;
		spans += parts[i].count;
	}
	if (count && processes == count && count <= WALL_MAX_PARTS &&
	    spans <= VM_MEMORY_MAX_SPANS) {
		read_processes(parts, count);
		return;
	}
	for (unsigned int i = 0; i < count; i++)
		parts[i].result =
			parts[i].memory->read(parts[i].memory, parts[i].spans, parts[i].count);
}

static int follow_process(const struct vm_memory *memory, struct wall_hop *hops, unsigned int count,
			  uint8_t *data, size_t size)
{
	return wall_follow(memory->pid, hops, count, data, size);
}

void vm_memory_init_process(struct vm_memory *memory, uint32_t pid)
{
	*memory = (struct vm_memory){ .read = read_process, .follow = follow_process, .pid = pid };
}

/* All, or the first alone. */
static int land(const struct wall_landing *landings, unsigned int count, void *arg)
{
	const struct vm_memory *memory = arg;
	struct vm_gather g;
	int r;

	vm_gather_init(&g);
	for (unsigned int i = 0; i < count; i++)
		vm_gather_add(&g, landings[i].address, landings[i].data, landings[i].len);
	r = vm_gather_read(&g, memory);
	if (r == -EFAULT && count > 1) {
		g.count = count = 1;
		r = vm_gather_read(&g, memory);
	}
	if (r == -EFAULT)
		return 0;
	return r < 0 ? r : (int)count;
}

int vm_memory_follow(const struct vm_memory *memory, struct wall_hop *hops, unsigned int count,
		     uint8_t *data, size_t size)
{
	struct vm_memory below = *memory;

	if (memory->follow)
		return memory->follow(memory, hops, count, data, size);
	return wall_hops_read(hops, count, data, size, land, &below);
}

int vm_memory_read(const struct vm_memory *memory, uint64_t address, void *data, size_t len)
{
	const struct vm_span span = { address, data, len };

	return memory->read(memory, &span, 1);
}

int vm_memory_read_u64(const struct vm_memory *memory, uint64_t address, uint64_t *ret_value)
{
	uint64_t value;
	int r = vm_memory_read(memory, address, &value, sizeof(value));

	if (r < 0)
		return r;
	*ret_value = value;
	return 0;
}

int vm_memory_read_text(const struct vm_memory *memory, uint64_t address, char *ret_text,
			size_t size)
{
	/* What lies behind its page is read only if it goes on there. */
	size_t max = size - 1, first = MIN(max, PAGE_BYTES - address % PAGE_BYTES);
	int r = vm_memory_read(memory, address, ret_text, first);

	if (r < 0)
		first = 0;
	ret_text[first] = 0;
	if (!r && first < max && strlen(ret_text) == first) {
		r = vm_memory_read(memory, address + first, ret_text + first, max - first);
		ret_text[r < 0 ? first : max] = 0;
	}
	for (char *c = ret_text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return r;
}

/* Fetched together, aligned: what is asked for next mostly lies beside. */
struct group {
	uint64_t address;
	unsigned int there; /* a bit for each page that could be read; none: empty */
	uint8_t pages[GROUP_PAGES][PAGE_BYTES];
};

/* A place by its number has two of them, as a table is read in turns with the names that it points to. */
struct place {
	struct group groups[2];
	unsigned int last; /* which of them was asked for last */
};

struct vm_pages {
	const struct vm_memory *memory; /* borrowed */
	unsigned int fetches;
	struct place places[PLACES];
};

/* Each JVM's tables are read with pages of their own, a dozen times: a megabyte that is new each time costs as much as what is read into it. */
static _Atomic(struct vm_pages *) spare;

static void empty(struct vm_pages *pages)
{
	for (unsigned int i = 0; i < PLACES; i++) {
		pages->places[i].groups[0].address = pages->places[i].groups[1].address = 0;
		pages->places[i].groups[0].there = pages->places[i].groups[1].there = 0;
	}
	pages->fetches = 0;
}

struct vm_pages *vm_pages_new(const struct vm_memory *memory)
{
	struct vm_pages *pages = atomic_exchange(&spare, NULL);

	if (pages)
		empty(pages);
	else
		pages = xcalloc(1, sizeof(*pages));
	pages->memory = memory;
	return pages;
}

void vm_pages_free(struct vm_pages *pages)
{
	if (pages)
		free(atomic_exchange(&spare, pages));
}

static int fetch_group(struct vm_pages *pages, struct group *group, uint64_t address)
{
	struct wall_hop hops[GROUP_PAGES];
	int r;

	if (pages->fetches++ >= MAX_FETCHES)
		return -E2BIG;
	group->address = address;
	group->there = 0;
	for (unsigned int i = 0; i < GROUP_PAGES; i++)
		hops[i] = (struct wall_hop){ .address = address + i * PAGE_BYTES,
					     .len = PAGE_BYTES,
					     .base = WALL_NO_HOP,
					     .index = WALL_NO_HOP };
	r = vm_memory_follow(pages->memory, hops, GROUP_PAGES, group->pages[0],
			     sizeof(group->pages));
	if (r < 0)
		return r;
	for (unsigned int i = 0; i < GROUP_PAGES; i++)
		group->there |= (hops[i].len == PAGE_BYTES) << i;
	return 0;
}

/* The place of the group at ADDRESS, or that it is to have. */
static struct group *group_at(struct vm_pages *pages, uint64_t address)
{
	struct place *place = &pages->places[address / GROUP_BYTES % PLACES];

	if (place->groups[place->last].address != address)
		place->last = !place->last;
	return &place->groups[place->last];
}

static int pages_fetch(struct vm_pages *pages, uint64_t start, const uint8_t **ret_data)
{
	unsigned int page = start / PAGE_BYTES % GROUP_PAGES;
	uint64_t address = start & ~(GROUP_BYTES - 1);
	struct group *group;
	int r = 0;

	if (!start)
		return -EFAULT;
	group = group_at(pages, address);
	if (group->address != address || !(group->there & 1U << page))
		r = fetch_group(pages, group, address);
	if (!r && !(group->there & 1U << page))
		r = -EFAULT;
	*ret_data = group->pages[page];
	return r;
}

int vm_pages_read(struct vm_pages *pages, uint64_t address, void *data, size_t len)
{
	char *out = data;

	while (len) {
		size_t at = address % PAGE_BYTES;
		size_t part = MIN(len, PAGE_BYTES - at);
		const uint8_t *page;
		int r = pages_fetch(pages, address - at, &page);

		if (r < 0)
			return r;
		memcpy(out, page + at, part);
		out += part;
		address += part;
		len -= part;
	}
	return 0;
}

int vm_pages_read_string(struct vm_pages *pages, uint64_t address, char *ret_text, size_t size)
{
	size_t len = 0;

	while (len < size) {
		size_t at = address % PAGE_BYTES;
		size_t part = MIN(size - len, PAGE_BYTES - at);
		const uint8_t *page, *end;
		int r = pages_fetch(pages, address - at, &page);

		if (r < 0)
			return r;
		end = memchr(page + at, 0, part);
		if (end)
			part = (size_t)(end - (page + at)) + 1;
		memcpy(ret_text + len, page + at, part);
		if (end)
			return 0;
		len += part;
		address += part;
	}
	return -E2BIG;
}
