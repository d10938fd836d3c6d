/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/layout/vm_ahead.h"

#include <string.h>

/* Bytes of one read, far from what one call of the wall brings; who wants more of them reads alone. */
#define MAX_BYTES (128U << 10)

static const uint8_t *find(const struct vm_ahead_reader *reader, const struct vm_span *span)
{
	for (unsigned int i = 0; i < reader->fetched; i++) {
		const struct vm_ahead_piece *piece = &reader->pieces[i];
		uint64_t at = span->address - piece->address;

		if (at <= piece->len && span->len <= piece->len - at)
			return reader->ahead->bytes.items + piece->at + at;
	}
	return NULL;
}

static int read_ahead(const struct vm_memory *memory, const struct vm_span *spans,
		      unsigned int count)
{
	const struct vm_ahead_reader *reader = memory->data;
	const struct vm_memory *below = reader->ahead->below;

	for (unsigned int i = 0; i < count; i++)
		if (!find(reader, &spans[i]))
			return below->read(below, spans, count);
	for (unsigned int i = 0; i < count; i++)
		memcpy(spans[i].data, find(reader, &spans[i]), spans[i].len);
	return 0;
}

void vm_ahead_init(struct vm_ahead *ahead, const struct vm_memory *below,
		   struct vm_ahead_reader *readers, unsigned int count)
{
	*ahead = (struct vm_ahead){ .below = below, .readers = readers, .count = count };
	for (unsigned int i = 0; i < count; i++) {
		readers[i].ahead = ahead;
		readers[i].count = readers[i].fetched = 0;
		readers[i].memory = (struct vm_memory){ .read = read_ahead,
							.data = &readers[i],
							.pid = below->pid };
	}
}

void vm_ahead_release(struct vm_ahead *ahead)
{
	vec_release(&ahead->bytes);
}

void vm_ahead_want(struct vm_ahead_reader *reader, uint64_t address, size_t len)
{
	if (len && len <= MAX_BYTES && reader->count < VM_AHEAD_PIECES)
		reader->pieces[reader->count++] = (struct vm_ahead_piece){ address, len, 0 };
}

/* Those that could not be read together are read one by one. */
static void fetch_alone(struct vm_ahead *ahead, struct vm_ahead_reader *reader)
{
	unsigned int kept = reader->fetched;

	for (unsigned int i = reader->fetched; i < reader->count; i++) {
		struct vm_ahead_piece piece = reader->pieces[i];

		if (vm_memory_read(ahead->below, piece.address, ahead->bytes.items + piece.at,
				   piece.len) == 0)
			reader->pieces[kept++] = piece;
	}
	reader->count = reader->fetched = kept;
}

/* What the COUNT readers from FIRST on want, for which there is room. */
static void fetch_some(struct vm_ahead *ahead, unsigned int first, unsigned int count)
{
	struct vm_gather g;

	vm_gather_init(&g);
	for (unsigned int i = first; i < first + count; i++) {
		struct vm_ahead_reader *reader = &ahead->readers[i];

		for (unsigned int k = reader->fetched; k < reader->count; k++)
			vm_gather_add(&g, reader->pieces[k].address,
				      ahead->bytes.items + reader->pieces[k].at,
				      reader->pieces[k].len);
	}
	if (vm_gather_read(&g, ahead->below) < 0)
		for (unsigned int i = first; i < first + count; i++)
			fetch_alone(ahead, &ahead->readers[i]);
	for (unsigned int i = first; i < first + count; i++)
		ahead->readers[i].fetched = ahead->readers[i].count;
}

static size_t give_place(struct vm_ahead *ahead, struct vm_ahead_reader *reader)
{
	size_t bytes = 0;

	for (unsigned int i = reader->fetched; i < reader->count; i++) {
		reader->pieces[i].at = ahead->bytes.len + bytes;
		bytes += reader->pieces[i].len;
	}
	vec_reserve(&ahead->bytes, ahead->bytes.len + bytes);
	ahead->bytes.len += bytes;
	return bytes;
}

void vm_ahead_fetch(struct vm_ahead *ahead)
{
	unsigned int first = 0, spans = 0;
	size_t bytes = 0;

	for (unsigned int i = 0; i < ahead->count; i++) {
		struct vm_ahead_reader *reader = &ahead->readers[i];
		unsigned int more = reader->count - reader->fetched;

		if (bytes > MAX_BYTES || spans + more > VM_MEMORY_MAX_SPANS) {
			fetch_some(ahead, first, i - first);
			first = i;
			spans = 0;
			bytes = 0;
		}
		bytes += give_place(ahead, reader);
		spans += more;
	}
	fetch_some(ahead, first, ahead->count - first);
}

void vm_ahead_give(struct vm_ahead_reader *reader, uint64_t address, const void *data, size_t len)
{
	struct vm_ahead *ahead = reader->ahead;

	vm_ahead_want(reader, address, len);
	if (!len || reader->fetched == reader->count)
		return;
	give_place(ahead, reader);
	memcpy(ahead->bytes.items + reader->pieces[reader->fetched].at, data, len);
	reader->fetched = reader->count;
}
