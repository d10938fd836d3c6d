/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What is wanted of the stack that was left for the one which a thread stands on: a goroutine's, by Go's runtime. */
#ifndef HOSTPROF_BPF_SAMPLE_MISS_MISS_LEFT_H
#define HOSTPROF_BPF_SAMPLE_MISS_MISS_LEFT_H

#include "native/goroutine.h"
#include "sample/miss/miss_buffer.h"

/* Frames of the copy that are looked through for the way to it. */
#define MISS_LINKS 64
/* Of it, from where the way leads to; less where that is not all there, as its end is near. */
#define MISS_LEFT_BYTES MISS_HEAP_PIECE
#define MISS_LEFT_LEAST 1024
/* As far below a frame pointer as the return address may lie (frame_pointer_below()). */
#define MISS_LEFT_BELOW (8 * FRAME_POINTER_WORDS)

struct miss_links {
	struct miss_buffer *b;
	wire_u64 fp;
};

static long miss_link_turn(wire_u32 turn, struct miss_links *links)
{
	const struct wire_miss *miss = &links->b->miss;

	(void)turn;
	return links->fp - miss->copy_at >= miss->copy_bytes ||
	       bpf_probe_read_user(&links->fp, sizeof(links->fp), (const void *)links->fp);
}

static __always_inline void miss_add_left(wire_u32 buffer, wire_u64 at)
{
	if (!miss_add_piece(buffer, at, MISS_LEFT_BYTES) &&
	    !miss_add_piece(buffer, at, MISS_LEFT_BYTES / 4))
		(void)miss_add_piece(buffer, at, MISS_LEFT_LEAST);
}

static __always_inline wire_u64 miss_word(wire_u64 at)
{
	wire_u64 word = 0;

	(void)bpf_probe_read_user(&word, sizeof(word), (const void *)at);
	return word;
}

/* What goroutine_step() reads: of a g, and of an m, of which the goroutine is among the first few words behind the fixed ones. */
#define MISS_G_BYTES 128
#define MISS_M_BYTES 256
#define MISS_M_FROM  16 /* words */

struct miss_goroutine {
	wire_u64 g, m;
	wire_u32 buffer;
};

/* The stack of the goroutine G from AT on, up to where that ends. */
static __always_inline void miss_take_goroutine(wire_u32 buffer, wire_u64 g, wire_u64 at)
{
	struct miss_buffer *b = miss_buffer_at(buffer);
	wire_u64 low = miss_word(g), high = miss_word(g + 8);

	if (!b || at < low || at >= high)
		return;
	b->beyond_at = at;
	b->beyond_end = high;
}

static long miss_goroutine_turn(wire_u32 turn, struct miss_goroutine *go)
{
	wire_u64 g = miss_word(go->m + 8ULL * (MISS_M_FROM + turn));

	if (!cursor_is_user(g) || g == go->g || miss_word(g + GOROUTINE_M) != go->m)
		return 0;
	if (miss_add_piece(go->buffer, g, MISS_G_BYTES))
		miss_take_goroutine(go->buffer, g, miss_word(g + GOROUTINE_SCHED));
	return 1;
}

/*
 * Where Go's runtime stands on the thread's own stack (native/goroutine.h). The thread's own g says where that is;
 * nobody else has such words there. Not 0: it does. A goroutine's own stack ends where its g says.
 */
MISS_ALONE miss_copy_goroutine(wire_u32 buffer, wire_u64 tls, wire_u64 sp)
{
	struct miss_goroutine go = { .buffer = buffer, .g = miss_word(tls - 8) };
	struct miss_buffer *b = miss_buffer_at(buffer);

	if (!b || sp < miss_word(go.g) || sp >= miss_word(go.g + 8))
		return 0;
	go.m = miss_word(go.g + GOROUTINE_M);
	if (miss_word(go.m) != go.g) {
		miss_take_goroutine(buffer, go.g, b->beyond_at);
		return 0;
	}
	if (!miss_add_piece(buffer, tls - 8, 8) || !miss_add_piece(buffer, go.g, MISS_G_BYTES) ||
	    !miss_add_piece(buffer, go.m, MISS_M_BYTES))
		return 0;
	bpf_loop(MISS_M_BYTES / 8 - MISS_M_FROM, miss_goroutine_turn, &go, 0);
	return 1;
}

/*
 * Frame pointers lead from the copy to another stack where code has put %rsp on this one and kept %rbp
 * (WIRE_RULE_FP). Nothing but such a chain says so, as tables are what is missing; of other code it may lead anywhere.
 */
MISS_ALONE miss_copy_left(struct unwind_cursor *c, wire_u32 buffer)
{
	struct miss_buffer *b = miss_buffer_at(buffer);
	struct miss_links links = { .b = b };

	if (!b || !c || miss_copy_goroutine(buffer, c->tls, c->sp))
		return 0;
	links.fp = c->fp;
	bpf_loop(MISS_LINKS, miss_link_turn, &links, 0);
	if (links.fp != c->fp && !(links.fp & 7) && cursor_is_user(links.fp) &&
	    links.fp - b->miss.copy_at >= b->miss.copy_bytes)
		miss_add_left(buffer, links.fp - MISS_LEFT_BELOW);
	return 0;
}

#endif
