// SPDX-License-Identifier: Apache-2.0
/*
 * Walk made-up Java stacks: the input is the registers, a JVM's layout, and the bytes of a stack, of
 * code (blobs), of segment maps and of metadata (methods, threads), of which some change while the walk reads
 * them. Walked twice, the second time by what the first left in the caches. No input may read
 * outside its pieces, write outside the words, or go on for ever.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "check_words.h"
#include "unwind/walk.h"
#include "walk_copy.h"

#define STACK_AT  0x7ffff0000000ULL
#define CODE_AT	  0x500000ULL
#define SEGMAP_AT 0x700000ULL
#define META_AT	  0x800000ULL
/* Native code, of which nothing is known: it is walked by the frame pointer. */
#define NATIVE_AT    0x900000ULL
#define NATIVE_BYTES 0x10000

enum piece { PIECE_STACK, PIECE_CODE, PIECE_SEGMAP, PIECE_META, PIECE_COUNT };

enum option {
	OPTION_CALLER = 1,
	OPTION_LINKED = 2,
	OPTION_INEXACT = 4,
	OPTION_ANCHOR = 8,
	OPTION_PENDING = 16,
	OPTION_NO_CACHES = 32,
	OPTION_BLIND = 64, /* no tables at all */
	OPTION_HEAP = 128, /* metadata is a heap, too: frames of virtual threads */
};

/* Beside options, in `max_frames`: what the thread knows of frames that it puts in place can be read. */
#define UNPACKING 64

#define MOST_CHANGES	 4
#define MOST_FRAMES	 64
#define MOST_PIECE_BYTES 65535
/* Of one frame: every byte of a segment map once, and what else is read. */
#define MOST_READS (MOST_FRAMES * (MOST_PIECE_BYTES + 512))

/* Overwrites eight bytes of a piece in the middle of a walk. */
struct change {
	uint16_t when; /* at so many reads */
	uint8_t piece;
	uint8_t pad;
	uint32_t at;
	uint64_t value;
};

struct fixed {
	uint8_t options;
	uint8_t max_frames;
	uint16_t bytes[PIECE_COUNT - 1]; /* metadata takes the rest */
	uint64_t pc;
	uint64_t regs[16];
	uint64_t thread, anchor[3];
	uint64_t far_blob;
	uint8_t jvm[offsetof(struct wire_jvm, chunks)];
	struct change changes[MOST_CHANGES];
};

/* Any word of 0 is a chunk's class; references are addresses. */
static const struct wire_chunks heap = {
	.klass_mask = 0xffff,
	.klass_at = 8,
	.oop_bytes = 8,
	.tail = 8,
	.parent = 16,
	.size = 24,
	.sp = 28,
	.bottom = 32,
	.argsize = WIRE_JVM_ABSENT,
	.stack = 40,
};

static const struct wire_unpacking unpacking = {
	.array = 96,
	.frames = 12,
	.elements = 40,
	.element_bytes = 48,
	.method = 24,
	.bci = 8,
	.bytecodes = 56,
};

struct made {
	struct fixed fixed;
	struct wire_jvm jvm;
	struct walk_piece pieces[PIECE_COUNT];
	uint8_t *bytes[PIECE_COUNT]; /* allocated to the byte, so that the sanitizer sees all */
	struct walk_copy copy;
	struct unwind_memory copied, memory;
	struct unwind_tables tables;
	struct wire_hot_code hot_codes[WIRE_HOT_CODES];
	uint64_t reads;
};

static const uint64_t piece_at[PIECE_COUNT] = { STACK_AT, CODE_AT, SEGMAP_AT, META_AT };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Mutations rarely hit an address: the top byte 1 to 5 makes one, in that piece. */
static uint64_t place(uint64_t value)
{
	uint64_t piece = (value >> 56) - 1;

	if (piece == PIECE_COUNT)
		return NATIVE_AT + (value & 0xffff);
	return piece < PIECE_COUNT ? piece_at[piece] + (value & 0xffff) : value;
}

static int read_made(const void *data, uint64_t address, void *dst, size_t len)
{
	struct made *m = *(struct made *const *)data;

	if (++m->reads > MOST_READS)
		abort();
	for (size_t i = 0; i < MOST_CHANGES; i++) {
		const struct change *change = &m->fixed.changes[i];
		size_t piece = change->piece % PIECE_COUNT;
		uint64_t value = place(change->value);

		if (change->when == m->reads && change->at + 8ULL <= m->pieces[piece].len)
			memcpy(m->bytes[piece] + change->at, &value, 8);
	}
	return memory_read(&m->copied, dst, len, address);
}

static const wire_u64 *find_far_blob(const struct wire_far_key *key, const void *data)
{
	const struct made *m = *(struct made *const *)data;

	return key->segment & 64 ? &m->fixed.far_blob : NULL;
}

/* --- the input -------------------------------------------------------------------------------- */

/* Stack, blobs and metadata are words; a segment map is bytes. */
static void place_words(uint8_t *bytes, size_t len)
{
	for (size_t at = 0; at + 8 <= len; at += 8) {
		uint64_t word;

		memcpy(&word, bytes + at, 8);
		word = place(word);
		memcpy(bytes + at, &word, 8);
	}
}

static void place_jvm(struct wire_jvm *jvm)
{
	uint64_t *const words[] = { &jvm->interpreter_start, &jvm->interpreter_end,
				    &jvm->code_start,	     &jvm->code_end,
				    &jvm->call_stub_return,  &jvm->return_barrier,
				    &jvm->enter_return,	     &jvm->entries_start };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		*words[i] = place(*words[i]);
	for (size_t i = 0; i < WIRE_JVM_HEAPS; i++) {
		jvm->heaps[i].start = place(jvm->heaps[i].start);
		jvm->heaps[i].end = place(jvm->heaps[i].end);
		jvm->heaps[i].segmap = place(jvm->heaps[i].segmap);
	}
}

static void make_pieces(struct made *m, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < PIECE_COUNT; i++) {
		size_t len =
			i + 1 < PIECE_COUNT && m->fixed.bytes[i] < size ? m->fixed.bytes[i] : size;

		len = len < MOST_PIECE_BYTES ? len : MOST_PIECE_BYTES;
		m->bytes[i] = malloc(len ? len : 1);
		memcpy(m->bytes[i], data, len);
		if (i != PIECE_SEGMAP)
			place_words(m->bytes[i], len);
		m->pieces[i] = (struct walk_piece){ piece_at[i], len, m->bytes[i] };
		data += len;
		size -= len;
	}
	m->copy = (struct walk_copy){ m->pieces, PIECE_COUNT };
	m->copied = walk_memory_of_copy(&m->copy);
}

/* --- the walk --------------------------------------------------------------------------------- */

static struct walk_request make_request(const struct made *m)
{
	const struct fixed *fixed = &m->fixed;
	struct walk_request request = {
		.pc = place(fixed->pc),
		.caller = fixed->options & OPTION_CALLER,
		.linked = fixed->options & OPTION_LINKED,
		.exact = !(fixed->options & OPTION_INEXACT),
		.max_frames = 1 + fixed->max_frames % MOST_FRAMES,
		.thread = place(fixed->thread),
		.has_anchor = fixed->options & OPTION_ANCHOR,
		.serial = 1,
		.count = 1,
		.listed = true,
	};

	for (int i = 0; i < 16; i++)
		request.regs[i] = place(fixed->regs[i]);
	for (int i = 0; i < 3; i++)
		request.anchor[i] = place(fixed->anchor[i]);
	if (fixed->options & OPTION_PENDING) {
		request.jvm_serial = WIRE_JVM_PENDING;
	} else {
		request.jvm = &m->jvm;
		request.jvm_serial = m->jvm.serial;
	}
	request.has_heap = fixed->options & OPTION_HEAP;
	request.has_unpacking = fixed->max_frames & UNPACKING;
	return request;
}

static void walk_made(struct made *m, struct walk_result *result)
{
	struct walk_request request = make_request(m);

	m->reads = 0;
	walk_stack(&request, &m->memory, result);
	check_words(result, request.max_frames);
}

static const struct wire_range native = { .start = NATIVE_AT,
					  .end = NATIVE_AT + NATIVE_BYTES,
					  .serial = 1 };

static const struct wire_page *no_page(const struct wire_page_key *key, const void *data)
{
	(void)key;
	(void)data;
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct walk_result result;
	static struct made made;
	static struct made *const self = &made;

	if (size < sizeof(made.fixed))
		return 0;
	memset(&made, 0, sizeof(made));
	memcpy(&made.fixed, data, sizeof(made.fixed));
	memcpy(&made.jvm, made.fixed.jvm, sizeof(made.fixed.jvm));
	place_jvm(&made.jvm);
	made.jvm.thread_exception_pc = made.jvm.thread_saved_pc;
	made.jvm.chunks = heap;
	made.jvm.unpacking = unpacking;
	made.fixed.far_blob = place(made.fixed.far_blob);
	make_pieces(&made, data + sizeof(made.fixed), size - sizeof(made.fixed));
	made.tables = (struct unwind_tables){ .ranges = &native,
					      .range_count = 1,
					      .page = no_page,
					      .far_blob = find_far_blob,
					      .data = &self };
	if (!(made.fixed.options & OPTION_NO_CACHES))
		made.tables.hot_codes = made.hot_codes;
	made.memory = (struct unwind_memory){ .read = read_made, .data = &self };
	if (!(made.fixed.options & OPTION_BLIND))
		made.memory.tables = &made.tables;
	walk_made(&made, &result);
	walk_made(&made, &result);
	for (int i = 0; i < PIECE_COUNT; i++)
		free(made.bytes[i]);
	return 0;
}
