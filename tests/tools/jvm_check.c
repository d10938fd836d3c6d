/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the layout that was read of a live JVM true? Its heaps are walked block by block, and what
 * the step functions will do with the layout is held against that. Prints the layout, then "ok" or
 * what is wrong.
 *
 *     jvm_check [--early] PID
 *
 * --early: PID is a JVM that is being started. Its layout is read at the first moment that it can
 * be, and must be the same when it has started.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "jvm/layout/jvm_layout_read.h"
#include "jvm/layout/vm_flags.h"

#define MAX_FAILS 20
#define MAX_FRAME 100000 /* words */
#define MAX_HOPS  100000
/* A JVM is looked at for ten seconds, and given this long to start. */
#define START_TRIES    20000
#define START_PAUSE_US 500
#define START_SECONDS  2
#define NAME_BYTES     96

struct check {
	const struct vm_memory *memory;
	const struct jvm_layout *layout;
	const struct wire_jvm *wire;
	uint64_t length_at, used_at; /* HeapBlock::Header */
	unsigned int length_bytes;
	unsigned int fails;
	unsigned int blobs, nmethods, deopts, far, hops;
	bool call_stub_seen, barrier_seen, enter_seen;
};

/* One blob as it is now. */
struct blob {
	uint64_t at, block_end, code;
	int32_t size, frame_size, frame_complete, compile_id;
	uint64_t deopt;
	bool nmethod;
	char name[NAME_BYTES];
};

static void fail(struct check *c, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void fail(struct check *c, const char *fmt, ...)
{
	va_list args;

	if (c->fails++ >= MAX_FAILS)
		return;
	va_start(args, fmt);
	printf("FAIL ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
}

static uint64_t value_at(const uint8_t *bytes, unsigned int width)
{
	uint64_t value = 0;

	memcpy(&value, bytes, width);
	return value;
}

static int32_t i32_at(const uint8_t *bytes)
{
	return (int32_t)value_at(bytes, 4);
}

static uint64_t place(const struct blob *blob, const uint8_t *field, bool is_pointer)
{
	return is_pointer ? value_at(field, 8) : blob->at + (uint64_t)(int64_t)i32_at(field);
}

static void read_name(struct check *c, const uint8_t *bytes, struct blob *blob)
{
	uint64_t at = value_at(bytes + c->layout->blob_name, 8);

	memset(blob->name, 0, sizeof(blob->name));
	for (unsigned int i = 0; i + 1 < sizeof(blob->name); i++)
		if (vm_memory_read(c->memory, at + i, &blob->name[i], 1) < 0 || !blob->name[i])
			break;
}

static void read_blob(struct check *c, uint64_t at, uint64_t block_end, struct blob *blob)
{
	const struct wire_jvm *w = c->wire;
	uint8_t bytes[WIRE_BLOB_BYTES] = { 0 };
	size_t len = block_end - at < w->blob_bytes ? block_end - at : w->blob_bytes;

	memset(blob, 0, sizeof(*blob));
	blob->at = at;
	blob->block_end = block_end;
	if (vm_memory_read(c->memory, at, bytes, len) < 0)
		return fail(c, "blob %" PRIx64 " cannot be read", at);
	blob->size = i32_at(bytes + w->blob_size);
	blob->frame_size = i32_at(bytes + w->frame_size);
	blob->compile_id = i32_at(bytes + w->compile_id);
	blob->frame_complete = w->frame_complete_bytes == 2
				       ? (int16_t)value_at(bytes + w->frame_complete, 2)
				       : i32_at(bytes + w->frame_complete);
	blob->code =
		place(blob, bytes + w->code_begin, w->code_begin_kind == WIRE_CODE_BEGIN_POINTER);
	read_name(c, bytes, blob);
	if (c->layout->blob_kind == JVM_LAYOUT_ABSENT)
		blob->nmethod =
			!strcmp(blob->name, "nmethod") || !strcmp(blob->name, "native nmethod");
	else
		blob->nmethod = bytes[c->layout->blob_kind] == c->layout->blob_kind_nmethod;
	if (blob->nmethod && w->deopt_kind != WIRE_DEOPT_NONE)
		blob->deopt = place(blob, bytes + w->deopt, w->deopt_kind == WIRE_DEOPT_POINTER);
}

/* As the step functions find a blob; 0: none. */
static uint64_t find_blob(struct check *c, const struct wire_code_heap *heap, uint64_t pc,
			  unsigned int *ret_hops)
{
	uint64_t segment = (pc - heap->start) >> c->wire->log2_segment;
	uint8_t back = 0xff;

	for (*ret_hops = 0; *ret_hops < MAX_HOPS; (*ret_hops)++) {
		if (vm_memory_read(c->memory, heap->segmap + segment, &back, 1) < 0 ||
		    back == 0xff || back > segment)
			return 0;
		if (!back)
			return heap->start + (segment << c->wire->log2_segment) +
			       c->wire->block_header;
		segment -= back;
	}
	return 0;
}

static void check_found(struct check *c, const struct wire_code_heap *heap, const struct blob *blob)
{
	const uint64_t pcs[] = { blob->code, blob->at + (uint32_t)blob->size - 1 };

	for (unsigned int i = 0; i < ARRAY_SIZE(pcs); i++) {
		unsigned int hops;
		uint64_t found = find_blob(c, heap, pcs[i], &hops);

		if (found != blob->at)
			fail(c, "%s at %" PRIx64 ": pc %" PRIx64 " leads to %" PRIx64, blob->name,
			     blob->at, pcs[i], found);
		if (hops > c->hops)
			c->hops = hops;
		c->far += hops > 24;
	}
}

static bool blob_has(const struct blob *blob, uint64_t pc)
{
	return pc >= blob->code && pc < blob->at + (uint32_t)blob->size;
}

/*
 * Handlers begin with: C2 call of what follows, C1 mov imm64,%r10; JDK 26 and later jmp -7. See
 * emit_deopt_handler() in cpu/x86/x86.ad and c1_LIRAssembler_x86.cpp.
 */
static void check_deopt_code(struct check *c, const struct blob *blob)
{
	static const struct {
		uint8_t len, bytes[10];
	} known[] = {
		{ 10, { 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0x2c, 0x24, 0x05 } },
		{ 2, { 0x49, 0xba } },
		{ 2, { 0xeb, 0xf9 } },
	};

	uint8_t code[10] = { 0 };

	vm_memory_read(c->memory, blob->deopt, code, sizeof(code));
	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++)
		if (!memcmp(code, known[i].bytes, known[i].len))
			return;
	fail(c, "%s at %" PRIx64 ": no deoptimisation handler at %" PRIx64, blob->name, blob->at,
	     blob->deopt);
}

static void check_nmethod(struct check *c, const struct blob *blob)
{
	c->nmethods++;
	if (blob->compile_id < 0)
		fail(c, "%s at %" PRIx64 " has compile id %d", blob->name, blob->at,
		     blob->compile_id);
	/* Method handle intrinsics are wrappers that jump on. */
	if (blob->frame_size < (strcmp(blob->name, "native nmethod") ? 2 : 0))
		fail(c, "%s at %" PRIx64 " has frame size %d", blob->name, blob->at,
		     blob->frame_size);
	/* A native wrapper has none. */
	if (!blob->deopt || blob->deopt == blob->at || !strcmp(blob->name, "native nmethod"))
		return;
	c->deopts++;
	check_deopt_code(c, blob);
	if (!blob_has(blob, blob->deopt))
		fail(c, "%s at %" PRIx64 ": deoptimisation handler %" PRIx64 " lies outside",
		     blob->name, blob->at, blob->deopt);
}

static void check_blob(struct check *c, const struct wire_code_heap *heap, uint64_t at,
		       uint64_t block_end)
{
	struct blob blob;

	read_blob(c, at, block_end, &blob);
	c->blobs++;
	if (blob.size <= 0 || blob.at + (uint32_t)blob.size > block_end)
		return fail(c, "%s at %" PRIx64 " has %d bytes in a block of %" PRIu64, blob.name,
			    blob.at, blob.size, block_end - at);
	if (blob.code <= blob.at || blob.code > blob.at + (uint32_t)blob.size)
		return fail(c, "%s at %" PRIx64 ": code begins at %" PRIx64, blob.name, blob.at,
			    blob.code);
	if (blob.frame_size < -1 || blob.frame_size > MAX_FRAME)
		fail(c, "%s at %" PRIx64 " has frame size %d", blob.name, at, blob.frame_size);
	if (blob.frame_complete < -1 || blob.frame_complete > blob.size)
		fail(c, "%s at %" PRIx64 ": frame complete at %d", blob.name, at,
		     blob.frame_complete);
	check_found(c, heap, &blob);
	if (blob.nmethod)
		check_nmethod(c, &blob);
	if (blob_has(&blob, c->wire->call_stub_return))
		c->call_stub_seen = !blob.nmethod && strstr(blob.name, "StubRoutines");
	if (c->wire->return_barrier && blob_has(&blob, c->wire->return_barrier))
		c->barrier_seen = !blob.nmethod && strstr(blob.name, "StubRoutines");
	if (c->wire->enter_return && blob_has(&blob, c->wire->enter_return))
		c->enter_seen = blob.nmethod && blob.frame_size > 0;
}

static void check_heap(struct check *c, const struct wire_code_heap *heap)
{
	uint64_t at = heap->start, size;

	while (at < heap->end) {
		uint8_t header[16];

		/* What is reserved only cannot be read. */
		if (vm_memory_read(c->memory, at, header, sizeof(header)) < 0)
			return;
		size = value_at(header + c->length_at, c->length_bytes) << c->wire->log2_segment;
		if (!size || size > heap->end - at)
			return;
		if (header[c->used_at])
			check_blob(c, heap, at + c->wire->block_header, at + size);
		at += size;
	}
}

static void check_entries(struct check *c)
{
	const struct wire_jvm *w = c->wire;
	unsigned int frames = 0;

	for (unsigned int i = 0; i + 1 < w->entry_count; i++) {
		const struct wire_entry *entry = &w->entries[i];
		uint8_t code[7] = { 0 };

		if (entry[1].start <= entry->start)
			fail(c, "entry %u does not lie before the next one", i);
		if (!entry->frame)
			continue;
		frames++;
		if (entry->frame <= entry->start || entry->frame >= entry[1].start)
			fail(c, "entry %u makes its frame elsewhere", i);
		vm_memory_read(c->memory, w->entries_start + entry->frame, code, sizeof(code));
		if (code[0] != 0x50 || code[1] != 0x55 || code[6] != 0x55)
			fail(c, "entry %u makes no frame where it should", i);
	}
	if (frames < 4)
		fail(c, "%u entries of %u make frames", frames, w->entry_count);
}

static void check_stubs(struct check *c)
{
	const struct wire_jvm *w = c->wire;
	uint8_t code[7] = { 0 };

	if (!c->call_stub_seen)
		fail(c, "the call stub is in no stub");
	if (w->return_barrier && !c->barrier_seen)
		fail(c, "the return barrier is in no stub");
	if (w->enter_return && !c->enter_seen)
		fail(c, "enterSpecial is no nmethod");
	if (!w->return_barrier)
		return;
	vm_memory_read(c->memory, w->return_barrier, code, sizeof(code));
	if (value_at(code, 3) != 0xa78b49 || value_at(code + 3, 4) != w->thread_cont_entry)
		fail(c, "the return barrier does not load JavaThread::_cont_entry");
}

static void print_layout(const struct jvm_layout *l)
{
	const struct wire_jvm *w = &l->wire;

	printf("release %u provisional %d heaps %u log2 %u header %u code %" PRIx64 "-%" PRIx64
	       " interpreter +%u\n",
	       l->feature_release, l->provisional, w->heap_count, w->log2_segment, w->block_header,
	       (uint64_t)w->code_start, (uint64_t)w->code_end,
	       (unsigned int)(w->interpreter_end - w->interpreter_start));
	for (unsigned int i = 0; i < w->heap_count; i++)
		printf("heap %" PRIx64 "-%" PRIx64 " segmap %" PRIx64 "\n",
		       (uint64_t)w->heaps[i].start, (uint64_t)w->heaps[i].end,
		       (uint64_t)w->heaps[i].segmap);
	printf("blob bytes %u size %u frame_size %u frame_complete %u:%u code_begin %u kind %u "
	       "deopt %u kind %u mh %u orig_pc %u compile_id %u\n",
	       w->blob_bytes, w->blob_size, w->frame_size, w->frame_complete,
	       w->frame_complete_bytes, w->code_begin, w->code_begin_kind, w->deopt, w->deopt_kind,
	       w->deopt_mh, w->orig_pc, w->compile_id);
	printf("names %u kind %d is %u method %u\n", l->blob_name, (int)l->blob_kind,
	       l->blob_kind_nmethod, l->nmethod_method);
	printf("thread anchor %u cont_entry %u saved pc %u anchor %u %u %u wrapper %u\n",
	       w->thread_anchor, w->thread_cont_entry, w->thread_saved_pc, w->anchor_sp,
	       w->anchor_pc, w->anchor_fp, w->wrapper_anchor);
	printf("chunks tail %u parent %u size %u sp %u bottom %u argsize %u stack %u oops %u\n",
	       w->chunks.tail, w->chunks.parent, w->chunks.size, w->chunks.sp, w->chunks.bottom,
	       w->chunks.argsize, w->chunks.stack, w->chunks.oop_bytes);
	printf("call stub %" PRIx64 " barrier %" PRIx64 " enter %" PRIx64 " entries %u\n",
	       (uint64_t)w->call_stub_return, (uint64_t)w->return_barrier,
	       (uint64_t)w->enter_return, w->entry_count);
}

/* EARLY: the library may not be mapped yet, or what is in it half made. */
static int open_jvm(uint32_t pid, bool early, struct vmstructs **ret_vs, struct jvm_layout *layout)
{
	struct err err = { 0 };
	int r = -EAGAIN;

	for (unsigned int i = 0; i < START_TRIES; i++) {
		r = *ret_vs ? 0 : vmstructs_open(NULL, pid, NULL, ret_vs, &err);
		if (!r)
			r = jvm_layout_read(*ret_vs, layout, &err);
		if (r != -EAGAIN && !(early && r < 0))
			break;
		usleep(START_PAUSE_US);
	}
	if (r < 0)
		fprintf(stderr, "%s\n", err.text);
	return r;
}

/* Nothing of an early layout may change but what is said to be missing. */
static int check_early(const struct vmstructs *vs, struct jvm_layout *layout)
{
	struct jvm_layout early = *layout;
	struct err err = { 0 };

	printf("early: provisional %d barrier %d\n", early.provisional,
	       early.wire.return_barrier != 0);
	sleep(START_SECONDS);
	if (jvm_layout_read(vs, layout, &err))
		return -ESRCH;
	if (early.provisional) {
		early.wire.return_barrier = layout->wire.return_barrier;
		early.wire.enter_return = layout->wire.enter_return;
		early.wire.thread_cont_entry = layout->wire.thread_cont_entry;
	}
	if (memcmp(&early.wire, &layout->wire, sizeof(early.wire)) != 0) {
		print_layout(&early);
		printf("FAIL it has changed:\n");
		print_layout(layout);
		return -EBADMSG;
	}
	return 0;
}

static int check_init(struct check *c, const struct vmstructs *vs, const struct jvm_layout *layout)
{
	const char *type = vmstructs_field_type(vs, "HeapBlock::Header", "_length");

	*c = (struct check){
		.memory = vmstructs_memory(vs),
		.layout = layout,
		.wire = &layout->wire,
		.length_bytes = type && !strcmp(type, "uint32_t") ? 4 : 8,
	};
	if (vmstructs_field_offset(vs, "HeapBlock::Header", "_length", &c->length_at) ||
	    vmstructs_field_offset(vs, "HeapBlock::Header", "_used", &c->used_at) ||
	    c->length_at > 8 || c->used_at > 15)
		return -ENODATA;
	return 0;
}

static int check_all(const struct vmstructs *vs, const struct jvm_layout *layout)
{
	struct check c;

	if (check_init(&c, vs, layout))
		return 2;
	print_layout(layout);
	for (unsigned int i = 0; i < layout->wire.heap_count; i++)
		check_heap(&c, &layout->wire.heaps[i]);
	check_entries(&c);
	check_stubs(&c);
	printf("blobs %u nmethods %u deopts %u hops %u far %u\n", c.blobs, c.nmethods, c.deopts,
	       c.hops, c.far);
	if (!c.fails)
		printf("ok\n");
	return c.fails ? 1 : 0;
}

int main(int argc, char **argv)
{
	_cleanup_(vmstructs_closep) struct vmstructs *vs = NULL;
	struct jvm_layout layout = { 0 };
	bool early = argc == 3 && !strcmp(argv[1], "--early");

	if (argc != 2 + early) {
		fprintf(stderr, "usage: %s [--early] PID\n", argv[0]);
		return 2;
	}
	if (open_jvm((uint32_t)atoi(argv[1 + early]), early, &vs, &layout))
		return 2;
	if (early && check_early(vs, &layout))
		return 1;
	return check_all(vs, &layout);
}
