// SPDX-License-Identifier: Apache-2.0
/*
 * A sound JVM's stack of compiled and interpreted frames, some of which are being put in the place of a compiled one, which somebody has changed:
 * code, segment map, thread, stack. The first two bytes say where the walk begins and what it knows, the third after how many reads the second half
 * of the changes is made; then each time the piece (1 byte), the place (2, in units of 8), how many bytes (1), and these.
 */
#include <stdlib.h>

/* Before fixtures. */
#include "fuzz_asserts.h"

#include "check_words.h"
#include "late_changes.h"
#include "unpacking_world.h"

/* As the world is begun. */
#define MAX_FRAMES 100
#define MAX_CHANGE 32
#define MAX_TURNS  512
#define MAX_READS  (MAX_TURNS * 4096U)

enum {
	FORM_LEAF = 1,
	FORM_EXACT = 2,
	FORM_LINKED = 4,
	FORM_GUESSED = 8,
	FORM_COLD = 16,
	FORM_ANCHOR = 32,
	FORM_REGS_KEPT = 64,
	FORM_UNLISTED = 128
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- the world -------------------------------------------------------------------------------- */

/* In the interpreter, in compiled code or at its end, at its handler, at the barrier, in native code, or nowhere. */
static void take_form(uint8_t where, uint8_t form)
{
	const uint64_t places[] = { CODE_OF(310),      CODE_OF(10) + 64,
				    CODE_OF(10),       CODE_OF(10) + 8 * SEGMENT - 32,
				    CODE_OF(100) + 40, CODE_OF(100) + 8,
				    NATIVE_AT + 64,    0 };

	world.pc = places[where % 8];
	world.unpacks = (uint8_t[]){ 0, 1, 2, UNPACKING_FROM_LEAF }[where >> 3 & 3];
	world.leaf = form & FORM_LEAF;
	world.exact = (form & FORM_EXACT) != 0;
	world.linked = (form & FORM_LINKED) != 0;
	world.guessed = (form & FORM_GUESSED) != 0;
	world.has_anchor = (form & FORM_ANCHOR) != 0;
	world.regs_kept = (form & FORM_REGS_KEPT) != 0;
	world.listed = !(form & FORM_UNLISTED);
	world_tables.hot_codes = form & FORM_COLD ? NULL : world_hot_codes;
	world_tables.hot_methods = form & FORM_COLD ? NULL : world_hot_methods;
	world_tables.met_codes = form & FORM_COLD ? NULL : world_met_codes;
	world.jvm.call_stub_return = CODE_OF(100) + 8;
	world.jvm.return_barrier = where & 32 ? WORLD_CALLER : 0;
}

/* --- what is changed -------------------------------------------------------------------------- */

static void change(struct change c)
{
	while (c.size > 4) {
		const size_t piece = c.data[0] % ARRAY_SIZE(world_pieces);
		const size_t bytes = world_pieces[piece].len;
		const size_t at = 8 * (c.data[1] | (size_t)c.data[2] << 8) % bytes;
		const size_t len = MIN((size_t)c.data[3] % MAX_CHANGE, c.size - 4);

		memcpy((uint8_t *)world_pieces[piece].bytes + at, c.data + 4, MIN(len, bytes - at));
		c.data += 4 + len;
		c.size -= 4 + len;
	}
}

static int read_changing(const void *data, uint64_t address, void *dst, size_t len)
{
	changes_at_read(MAX_READS);
	return world_read(data, address, dst, len);
}

static const struct wire_page *no_page(const struct wire_page_key *key, const void *data)
{
	(void)key;
	(void)data;
	return NULL;
}

/* --- the walk --------------------------------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int turns = 0;

	if (size < 3)
		return 0;
	begin_frames(0);
	world.thread = THREAD_AT;
	take_form(data[0], data[1]);
	world_memory.read = read_changing;
	world_tables.page = no_page;
	changes_split(data + 3, size - 3, (size - 3) / 2, data[2]);
	while (unwind_frame(&world, &world_memory, world_out) == UNWIND_GO_ON)
		assert_true(++turns < MAX_TURNS);
	check_cursor(&world, world_out, MAX_FRAMES);
	return 0;
}
