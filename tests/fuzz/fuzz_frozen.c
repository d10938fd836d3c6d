// SPDX-License-Identifier: Apache-2.0
/*
 * A virtual thread's frames in the heap that somebody made: chunks, blobs, methods, the thread and its stack. The first byte says which sound world
 * is changed and how it is walked, the second after how many reads the rest of the changes is made; then each time the piece (1 byte), the place (2),
 * how many bytes (1), and these; 255 for their number: an address (2 bytes) in the heap's objects.
 */
#include <stdlib.h>

/* Before fixtures. */
#include "fuzz_asserts.h"

/* Only of texts that nobody compares here. */
#define assert_string_equal(a, b) (void)(a)

#include "check_words.h"
#include "frozen_world.h"
#include "late_changes.h"

/* As the world is begun. */
#define MAX_FRAMES 200
#define MAX_CHANGE 32
#define POINTER	   255
#define MAX_TURNS  4096
/* Of a turn: a whole segment map, a chunk's fields and those of its parents, a frame's slots. */
#define MAX_READS (MAX_TURNS * 512U)

enum { FORM_NOT_LIVE = 1, FORM_MOUNTED = 2, FORM_PARTLY_THAWED = 4, FORM_WHOLE_REFERENCES = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- the world -------------------------------------------------------------------------------- */

/* Chunks of compiled frames, interpreted ones, and both; the youngest first. */
static void make_chunks(void)
{
	unsigned int at, link;

	begin();
	at = put_compiled(0, 20, SIX + 100);
	at = put_compiled(0, at, TEN + 100);
	link = at - 2;
	at = put_interpreted(0, at, &link, 3, 2);
	at = put_interpreted(0, at, &link, 1, 0);
	put_chunk(0, 20, at, 1);
	at = put_compiled(1, 30, TEN + 110);
	put_chunk(1, 30, at, 2);
	at = put_compiled(2, 40, SIX + 120);
	put64(word(2, at - 1), ENTER_RETURN);
	put_chunk(2, 40, at, -1);
}

/* --- what is changed -------------------------------------------------------------------------- */

static void put_pointer(const struct piece *piece, size_t at, const uint8_t *data)
{
	const uint64_t address = OBJECTS_AT + (data[0] | (uint64_t)data[1] << 8);

	if (at + sizeof(address) <= piece->len)
		memcpy((uint8_t *)piece->bytes + at, &address, sizeof(address));
}

static void change(struct change c)
{
	while (c.size > 5) {
		const struct piece *piece = &pieces[c.data[0] % ARRAY_SIZE(pieces)];
		const size_t at = (c.data[1] | (size_t)c.data[2] << 8) % piece->len;
		size_t len = c.data[3];

		c.data += 4;
		c.size -= 4;
		if (len == POINTER) {
			put_pointer(piece, at, c.data);
			len = 2;
		} else {
			len = MIN(len % MAX_CHANGE, c.size);
			memcpy((uint8_t *)piece->bytes + at, c.data, MIN(len, piece->len - at));
		}
		c.data += len;
		c.size -= len;
	}
}

static int read_changing(const void *data, uint64_t address, void *dst, size_t len)
{
	changes_at_read(MAX_READS);
	return read_piece(data, address, dst, len);
}

static void take_form(uint8_t form)
{
	cursor.frozen_at.live = !(form & FORM_NOT_LIVE);
	if (form & FORM_MOUNTED)
		cursor.has_anchor = 1;
	if (form & FORM_PARTLY_THAWED)
		cursor.elsewhere = 1;
	if (form & FORM_WHOLE_REFERENCES)
		cursor.jvm.chunks.oop_bytes = 8;
}

/* --- the walk --------------------------------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct unwind_tables none;
	struct unwind_memory changing = { .read = read_changing, .tables = &none };
	unsigned int turns = 0;

	if (size < 2)
		return 0;
	make_chunks();
	take_form(data[0]);
	changes_split(data + 2, size - 2, (size - 2) / 2, data[1]);
	while (unwind_frame(&cursor, &changing, out) == UNWIND_GO_ON)
		assert_true(++turns < MAX_TURNS);
	check_cursor(&cursor, out, MAX_FRAMES);
	return 0;
}
