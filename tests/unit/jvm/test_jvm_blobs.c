/* SPDX-License-Identifier: Apache-2.0 */
/* The blobs of a code heap, one block after the other, as several releases have them. */
#include "test.h"

#include "jvm/layout/jvm_blobs.h"
#include "jvm/layout/jvm_layout_read.h"
#include "jvm_fixture.h"

#define MAX_SEEN 64

struct world {
	struct fake_jvm *f;
	struct jvm_layout layout;
};

struct seen {
	struct jvm_blob blobs[MAX_SEEN];
	char names[MAX_SEEN][80];
	unsigned int count, limit;
};

static struct seen seen;

static bool see(const struct jvm_blob *blob, void *data)
{
	assert_ptr_equal(data, &seen);
	assert_true(seen.count < MAX_SEEN);
	seen.blobs[seen.count] = *blob;
	snprintf(seen.names[seen.count++], sizeof(seen.names[0]), "%s", blob->name);
	return seen.count < seen.limit;
}

/* How many are seen; ADDRESS says in which heap. */
static unsigned int walk(const struct world *w, uint64_t address, unsigned int limit)
{
	memset(&seen, 0, sizeof(seen));
	seen.limit = limit;
	jvm_blobs_walk(w->f->vm.vs, &w->layout, address, see, &seen);
	return seen.count;
}

static void expect_blob(unsigned int i, const char *name, uint64_t blob_code, uint32_t code_bytes,
			int frame_size)
{
	assert_string_equal(seen.names[i], name);
	assert_true(seen.blobs[i].code == blob_code);
	assert_true(seen.blobs[i].end == blob_code + code_bytes);
	assert_int_equal(seen.blobs[i].frame_size, frame_size);
}

static struct world begin(uint32_t release)
{
	struct world w = { .f = fake_jvm_new(release, false) };
	struct err err = { 0 };

	if (jvm_layout_read(w.f->vm.vs, &w.layout, &err))
		fail_msg("%s", err.text);
	return w;
}

static void end(struct world *w)
{
	fake_jvm_free(w->f);
}

/* A block's header is before its blob: where the block of the blob with that code begins. */
static uint64_t block_of(const struct fake_jvm *f, uint64_t blob_code)
{
	return blob_code - 320 - jvm_header(f);
}

static void put_segments(struct fake_jvm *f, uint64_t block, int32_t segments)
{
	jvm_put_i32(f, block, segments);
}

static void put_used(struct fake_jvm *f, uint64_t block, uint8_t used)
{
	fake_put(&f->vm.fake, block + (f->release >= 25 ? 4 : 8), &used, 1);
}

static void blobs_of_all_releases(void **state)
{
	static const uint32_t releases[] = { 8, 17, 21, 25 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(releases); i++) {
		struct world w = begin(releases[i]);
		uint64_t added = jvm_add_blob(w.f, "nmethod", 12, 200);
		unsigned int others = releases[i] >= 21 ? 3 : 0;

		assert_int_equal(walk(&w, 0, MAX_SEEN), 3 + others);
		expect_blob(0, "StubRoutines (1)", w.f->call_stub - 20, 64, 0);
		expect_blob(1, "Interpreter", w.f->interpreter, JVM_INTERPRETER_BYTES, 0);
		if (others) {
			expect_blob(2, "StubRoutines (continuation stubs)", w.f->barrier - 62, 256,
				    0);
			assert_int_equal(seen.blobs[3].frame_size, 6);
			expect_blob(4, "native nmethod", w.f->enter_nmethod, 256, 10);
		}
		expect_blob(2 + others, "nmethod", added, 200, 12);
		end(&w);
	}
}

static void a_walk_ends_when_it_is_told_to(void **state)
{
	struct world w = begin(25);

	(void)state;
	assert_int_equal(walk(&w, 0, 1), 1);
	assert_int_equal(walk(&w, 0, 2), 2);
	end(&w);
}

/* Free blocks, and blobs that are still being made, are passed over. */
static void blocks_without_a_blob(void **state)
{
	struct world w = begin(17);
	struct jvm_blob_shape shape = jvm_blob_shape(w.f);
	uint64_t code[4], blob;

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		code[i] = jvm_add_blob(w.f, "nmethod", (int)i, 120);
	put_used(w.f, block_of(w.f, code[0]), 0);
	/* Code that begins before its blob, at its end, and a blob beyond its block. */
	blob = code[1] - 320;
	fake_put_u64(&w.f->vm.fake, blob + shape.code, blob);
	assert_int_equal(walk(&w, 0, MAX_SEEN), 4);
	assert_int_equal(seen.blobs[2].frame_size, 2);
	fake_put_u64(&w.f->vm.fake, blob + shape.code, blob + 1);
	assert_int_equal(walk(&w, 0, MAX_SEEN), 5);
	assert_true(seen.blobs[2].code == blob + 1);
	fake_put_u64(&w.f->vm.fake, blob + shape.code, blob + 440);
	assert_int_equal(walk(&w, 0, MAX_SEEN), 4);
	fake_put_u64(&w.f->vm.fake, blob + shape.code, blob + 439);
	assert_int_equal(walk(&w, 0, MAX_SEEN), 5);
	/* A block has 512 bytes, 16 of them its header. */
	jvm_put_i32(w.f, blob + shape.size, 512 - 16);
	assert_int_equal(walk(&w, 0, MAX_SEEN), 5);
	jvm_put_i32(w.f, blob + shape.size, 512 - 15);
	assert_int_equal(walk(&w, 0, MAX_SEEN), 4);
	assert_int_equal(seen.blobs[2].frame_size, 2);
	assert_int_equal(seen.blobs[3].frame_size, 3);
	end(&w);
}

/* What does not lead on within the heap ends it. */
static void lengths_that_cannot_be(void **state)
{
	struct world w = begin(17);
	uint64_t block = block_of(w.f, w.f->interpreter);
	int32_t left = (int32_t)((w.f->heap + JVM_RESERVED - block) / JVM_SEGMENT);

	(void)state;
	put_segments(w.f, block, 0);
	assert_int_equal(walk(&w, 0, MAX_SEEN), 1);
	put_segments(w.f, block, left + 1);
	assert_int_equal(walk(&w, 0, MAX_SEEN), 1);
	put_segments(w.f, block, left);
	assert_int_equal(walk(&w, 0, MAX_SEEN), 2);
	expect_blob(1, "Interpreter", w.f->interpreter, JVM_INTERPRETER_BYTES, 0);
	/* It has 64 bits. */
	fake_put_u64(&w.f->vm.fake, block, 1ULL << 32 | 9);
	assert_int_equal(walk(&w, 0, MAX_SEEN), 1);
	end(&w);
}

/* Of 25 the length has 32 bits, and what follows it is not a part of it. */
static void lengths_of_25(void **state)
{
	struct world w = begin(25);
	uint64_t block = block_of(w.f, w.f->interpreter);

	(void)state;
	fake_put(&w.f->vm.fake, block + 5, "\xff\xff\xff", 3);
	assert_int_equal(walk(&w, 0, MAX_SEEN), 5);
	end(&w);
}

/* The heap's last blob is shorter than what is read of the others; behind it nothing is mapped. */
static void the_last_blob_of_a_heap(void **state)
{
	struct world w = begin(25);
	struct fake_memory *fake = &w.f->vm.fake;
	uint64_t block = FAKE_BASE + FAKE_BYTES - JVM_SEGMENT;

	(void)state;
	w.layout.wire.heaps[0].start = block;
	w.layout.wire.heaps[0].end = FAKE_BASE + FAKE_BYTES;
	put_segments(w.f, block, 1);
	put_used(w.f, block, 1);
	fake_put_u64(fake, block + 8 + 8, fake_string(fake, "I2C/C2I adapters"));
	jvm_put_i32(w.f, block + 8 + 24, 120);
	/* None of it can be told, as its fields lie behind; it is no blob, and no other's is it. */
	assert_int_equal(walk(&w, 0, MAX_SEEN), 0);
	w.layout.wire.blob_bytes = 120;
	jvm_put_i32(w.f, block + 8 + 36, 80);
	assert_int_equal(walk(&w, 0, MAX_SEEN), 1);
	expect_blob(0, "I2C/C2I adapters", block + 8 + 80, 40, 0);
	end(&w);
}

/* --- names --- */

/* Those of the library are few; each is read once, and told apart from the others. */
static void names_are_read_once(void **state)
{
	struct world w = begin(17);
	unsigned int reads;
	uint64_t code[8];

	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		static const char *const names[] = { "a", "nmethod", "c", "d", "e", "f", "g", "h" };

		code[i] = jvm_add_blob(w.f, names[i], (int)i, 64);
	}
	assert_int_equal(walk(&w, 0, MAX_SEEN), 10);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(seen.blobs[2 + i].frame_size, i);
	assert_string_equal(seen.names[2], "a");
	assert_string_equal(seen.names[3], "nmethod");
	assert_string_equal(seen.names[9], "h");
	/* All have the same name: one read less for each but the first. */
	for (unsigned int i = 0; i < 8; i++)
		memcpy(w.f->vm.fake.bytes + (code[i] - 320 + 96 - FAKE_BASE),
		       w.f->vm.fake.bytes + (code[1] - 320 + 96 - FAKE_BASE), 8);
	w.f->vm.fake.reads = 0;
	walk(&w, 0, MAX_SEEN);
	reads = w.f->vm.fake.reads;
	for (unsigned int i = 2; i < 10; i++)
		assert_string_equal(seen.names[i], "nmethod");
	/* Blocks, three names, and the one that ends the walk. */
	assert_int_equal(reads, 10 + 3 + 1);
	/* A name that cannot be read has none of another's. */
	fake_put_u64(&w.f->vm.fake, code[3] - 320 + 96, 8);
	assert_int_equal(walk(&w, 0, MAX_SEEN), 10);
	assert_string_equal(seen.names[5], "");
	assert_string_equal(seen.names[6], "nmethod");
	end(&w);
}

/* Two that alternate are both kept. */
static void names_that_alternate(void **state)
{
	struct world w = begin(17);
	const uint64_t names[2] = { fake_string(&w.f->vm.fake, "nmethod"),
				    fake_string(&w.f->vm.fake, "stub") };

	(void)state;
	w.layout.wire.heaps[0].start = w.f->next_block;
	for (unsigned int i = 0; i < 10; i++)
		fake_put_u64(&w.f->vm.fake, jvm_add_blob(w.f, "x", 1, 64) - 320 + 96, names[i % 2]);
	w.f->vm.fake.reads = 0;
	assert_int_equal(walk(&w, 0, MAX_SEEN), 10);
	assert_int_equal(w.f->vm.fake.reads, 10 + 2 + 1);
	for (unsigned int i = 0; i < 10; i++)
		assert_string_equal(seen.names[i], i % 2 ? "stub" : "nmethod");
	end(&w);
}

/* A heap of free blocks, each of one segment, without an end. */
static unsigned int blocks_read;

static int read_free_block(const struct vm_memory *memory, const struct vm_span *spans,
			   unsigned int count)
{
	(void)memory;
	blocks_read++;
	for (unsigned int i = 0; i < count; i++)
		memset(spans[i].data, 0, spans[i].len);
	memcpy(spans[0].data, &(uint64_t){ 1 }, sizeof(uint64_t));
	return 0;
}

/* A hostile heap does not keep hostprof: so many blocks are read of all heaps, and no more. */
static void a_heap_of_too_many_blocks(void **state)
{
	struct world w = begin(17);
	struct vm_memory memory = { .read = read_free_block };

	(void)state;
	w.f->vm.fake.memory.read = fake_read;
	*(struct vm_memory *)(uintptr_t)vmstructs_memory(w.f->vm.vs) = memory;
	w.layout.wire.heaps[1] = w.layout.wire.heaps[0];
	w.layout.wire.heap_count = 2;
	blocks_read = 0;
	assert_int_equal(walk(&w, 0, MAX_SEEN), 0);
	assert_int_equal(blocks_read, 1 << 17);
	end(&w);
}

static void names_are_cut(void **state)
{
	struct world w = begin(17);
	char longest[80];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[79] = '\0';
	jvm_add_blob(w.f, longest, 1, 64);
	assert_int_equal(walk(&w, 0, MAX_SEEN), 3);
	assert_int_equal(strlen(seen.names[2]), 63);
	end(&w);
}

/* --- more than one heap --- */

static void the_heap_of_an_address(void **state)
{
	struct world w = begin(25);
	struct wire_jvm *wire = &w.layout.wire;
	uint64_t added = jvm_add_blob(w.f, "nmethod", 12, 200);

	(void)state;
	/* The added one is in a heap of its own, which lies first in the list. */
	wire->heaps[1] = wire->heaps[0];
	wire->heaps[0].start = block_of(w.f, added);
	wire->heaps[0].end = wire->heaps[0].start + 640;
	wire->heaps[1].end = wire->heaps[0].start;
	wire->heap_count = 2;
	assert_int_equal(walk(&w, 0, MAX_SEEN), 6);
	expect_blob(0, "nmethod", added, 200, 12);
	expect_blob(1, "StubRoutines (1)", w.f->call_stub - 20, 64, 0);
	/* No walk of the second after an end in the first. */
	assert_int_equal(walk(&w, 0, 1), 1);
	assert_int_equal(walk(&w, wire->heaps[0].start, MAX_SEEN), 1);
	assert_int_equal(walk(&w, wire->heaps[0].end - 1, MAX_SEEN), 1);
	assert_int_equal(walk(&w, wire->heaps[0].end, MAX_SEEN), 0);
	assert_int_equal(walk(&w, wire->heaps[1].start, MAX_SEEN), 5);
	assert_int_equal(walk(&w, wire->heaps[1].start - 1, MAX_SEEN), 0);
	wire->heap_count = 1;
	assert_int_equal(walk(&w, 0, MAX_SEEN), 1);
	end(&w);
}

/* --- layouts --- */

/* Was memory read, with that layout? */
static bool is_walked(uint32_t header, uint32_t name_at, uint32_t release)
{
	struct world w = begin(release);
	bool walked;

	w.layout.wire.block_header = (uint8_t)header;
	w.layout.blob_name = name_at;
	w.f->vm.fake.reads = 0;
	walk(&w, 0, MAX_SEEN);
	walked = w.f->vm.fake.reads > 0;
	end(&w);
	return walked;
}

/* A header that does not hold its fields, or is longer than what is read. */
static void layouts_that_cannot_be(void **state)
{
	(void)state;
	assert_true(is_walked(16, 96, 17));
	assert_true(is_walked(64, 96, 17));
	assert_false(is_walked(65, 96, 17));
	/* 17: a length of 8 bytes at 0, "used" at 8; 25: one of 4, and at 4. */
	assert_true(is_walked(9, 96, 17));
	assert_false(is_walked(8, 96, 17));
	assert_false(is_walked(7, 96, 17));
	assert_true(is_walked(5, 8, 25));
	assert_false(is_walked(4, 8, 25));
	assert_false(is_walked(3, 8, 25));
	assert_true(is_walked(16, WIRE_BLOB_BYTES - 8, 17));
	assert_false(is_walked(16, WIRE_BLOB_BYTES - 7, 17));
	assert_false(is_walked(16, JVM_LAYOUT_ABSENT, 17));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blobs_of_all_releases),
		cmocka_unit_test(a_walk_ends_when_it_is_told_to),
		cmocka_unit_test(blocks_without_a_blob),
		cmocka_unit_test(lengths_that_cannot_be),
		cmocka_unit_test(lengths_of_25),
		cmocka_unit_test(the_last_blob_of_a_heap),
		cmocka_unit_test(names_are_read_once),
		cmocka_unit_test(names_that_alternate),
		cmocka_unit_test(a_heap_of_too_many_blocks),
		cmocka_unit_test(names_are_cut),
		cmocka_unit_test(the_heap_of_an_address),
		cmocka_unit_test(layouts_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
