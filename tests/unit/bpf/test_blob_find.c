// SPDX-License-Identifier: Apache-2.0
/* The fields of a code blob, one by one, and the hops of the segment map that lead to it. */
#include "test.h"

#include "java_world.h"

static void put_field(wire_u32 offset, const void *value, size_t len)
{
	memcpy(world.blob + offset, value, len);
}

static void begin(void)
{
	world_begin(CODE_OF(10) + 64, 20);
	world_blob(10, 8, 4);
	world.blob_at = BLOB_AT(10);
}

/* --- where code is ---------------------------------------------------------------------------- */

static void the_bounds_of_code(void **state)
{
	(void)state;
	begin();
	world.jvm.interpreter_start = HEAP_AT + 512;
	world.jvm.interpreter_end = HEAP_AT + 1024;
	assert_false(blob_owns(&world, HEAP_AT - 1));
	assert_true(blob_owns(&world, HEAP_AT));
	assert_true(blob_owns(&world, world.jvm.code_end - 1));
	assert_false(blob_owns(&world, world.jvm.code_end));
	assert_false(blob_is_interpreter(&world, HEAP_AT + 511));
	assert_true(blob_is_interpreter(&world, HEAP_AT + 512));
	assert_true(blob_is_interpreter(&world, HEAP_AT + 1023));
	assert_false(blob_is_interpreter(&world, HEAP_AT + 1024));
	assert_true(compiled_is_at_pc(&world));
	world.pc = HEAP_AT - 1;
	assert_false(compiled_is_at_pc(&world));
	world.pc = HEAP_AT;
	world.jvm.serial = 0;
	assert_false(compiled_is_at_pc(&world));
}

static void a_jvm_that_is_forgotten(void **state)
{
	(void)state;
	begin();
	world.jvm.interpreter_end = HEAP_AT + 1024;
	blob_forget_jvm(&world);
	assert_int_equal(world.jvm.serial, 0);
	assert_int_equal(world.jvm.interpreter_end, 0);
	assert_int_equal(world.jvm.code_end, 0);
}

/* --- fields ----------------------------------------------------------------------------------- */

static void numbers_of_a_blob(void **state)
{
	static const uint8_t bytes[] = { 0x01, 0x82, 0x43, 0x84, 0x25, 0x86, 0x17, 0x98 };
	uint32_t last = WIRE_BLOB_BYTES - 8;

	(void)state;
	begin();
	put_field(0, bytes, 8);
	assert_int_equal(blob_s32(&world, 0), (int32_t)0x84438201);
	assert_true(blob_u64(&world, 0) == 0x9817862584438201);
	assert_int_equal(blob_s32(&world, 1), 0x25844382);
	/* One read of eight bytes is always within. */
	put_field(last, bytes, 8);
	assert_int_equal(blob_s32(&world, last), (int32_t)0x84438201);
	assert_int_equal(blob_s32(&world, last + 1), 0);
	assert_int_equal(blob_s32(&world, UINT32_MAX), 0);
}

static void where_a_frame_is_complete(void **state)
{
	int32_t value = -0x10002;

	(void)state;
	begin();
	put_field(FIELD_COMPLETE, &value, 4);
	assert_int_equal(blob_frame_complete(&world), -2);
	world.jvm.frame_complete_bytes = 4;
	assert_int_equal(blob_frame_complete(&world), -0x10002);
}

/* An offset may lead to what is in front of the blob; JDK 9 to 22 have addresses. */
static void where_code_begins(void **state)
{
	int32_t offset = -64;
	uint64_t address = 0x7f1234567890;

	(void)state;
	begin();
	put_field(FIELD_CODE, &offset, 4);
	assert_true(blob_code_begin(&world) == BLOB_AT(10) - 64);
	offset = 272;
	put_field(FIELD_CODE, &offset, 4);
	assert_true(blob_code_begin(&world) == BLOB_AT(10) + 272);
	put_field(FIELD_CODE, &address, 8);
	world.jvm.code_begin_kind = WIRE_CODE_BEGIN_POINTER;
	assert_true(blob_code_begin(&world) == address);
}

static void what_a_blob_holds(void **state)
{
	int32_t size = 100;

	(void)state;
	begin();
	put_field(FIELD_SIZE, &size, 4);
	assert_false(blob_holds(&world, BLOB_AT(10) - 1));
	assert_true(blob_holds(&world, BLOB_AT(10)));
	assert_true(blob_holds(&world, BLOB_AT(10) + 99));
	assert_false(blob_holds(&world, BLOB_AT(10) + 100));
	size = 1;
	put_field(FIELD_SIZE, &size, 4);
	assert_true(blob_holds(&world, BLOB_AT(10)));
	for (size = 0; size > -2; size--) {
		put_field(FIELD_SIZE, &size, 4);
		assert_false(blob_holds(&world, BLOB_AT(10)));
		assert_false(blob_holds(&world, BLOB_AT(10) - 5));
	}
}

/* Both handlers' addresses, as offsets and as pointers. */
static void what_a_deoptimisation_handler_is(void **state)
{
	int32_t offsets[] = { 500, 600 };
	uint64_t addresses[] = { HEAP_AT + 7000, HEAP_AT + 8000 };

	(void)state;
	begin();
	world.jvm.deopt = 160;
	put_field(160, &offsets[0], 4);
	put_field(168, &offsets[1], 4);
	assert_true(blob_is_deopt(&world, BLOB_AT(10) + 500));
	assert_false(blob_is_deopt(&world, BLOB_AT(10) + 501));
	assert_false(blob_is_deopt(&world, BLOB_AT(10) + 600));
	world.jvm.deopt_mh = 168;
	assert_true(blob_is_deopt(&world, BLOB_AT(10) + 500));
	assert_true(blob_is_deopt(&world, BLOB_AT(10) + 600));
	assert_false(blob_is_deopt(&world, BLOB_AT(10) + 601));
	world.jvm.deopt_kind = WIRE_DEOPT_NONE;
	assert_false(blob_is_deopt(&world, BLOB_AT(10) + 500));
	world.jvm.deopt_kind = WIRE_DEOPT_POINTER;
	put_field(160, addresses, 16);
	assert_true(blob_is_deopt(&world, HEAP_AT + 7000));
	assert_true(blob_is_deopt(&world, HEAP_AT + 8000));
	assert_false(blob_is_deopt(&world, BLOB_AT(10) + 500));
}

static unsigned int reads;
static size_t read_len;

/* Without memory a read fails, and what was there is not taken for the blob's. */
static int read_nothing(const void *data, uint64_t address, void *dst, size_t len)
{
	(void)data, (void)address, (void)dst;
	reads++;
	read_len = len;
	return -EFAULT;
}

static void a_blob_is_read_once(void **state)
{
	struct unwind_memory nothing = { .read = read_nothing };

	(void)state;
	begin();
	world.blob_at = 0;
	assert_int_equal(blob_read(&world, &world_memory, BLOB_AT(10)), UNWIND_GO_ON);
	assert_true(world.blob_at == BLOB_AT(10));
	assert_int_equal(blob_s32(&world, FIELD_FRAME), 4);
	reads = 0;
	assert_int_equal(blob_read(&world, &nothing, BLOB_AT(10)), UNWIND_GO_ON);
	assert_int_equal(reads, 0);
	assert_int_equal(blob_read(&world, &nothing, BLOB_AT(100)), UNWIND_STOP);
	assert_int_equal(reads, 1);
	assert_int_equal(read_len, 216);
	assert_int_equal(world.reason, UNWIND_PAGE);
	assert_true(world.blob_at == 0);
	world.jvm.blob_bytes = WIRE_BLOB_BYTES;
	assert_int_equal(blob_read(&world, &nothing, BLOB_AT(100)), UNWIND_STOP);
	assert_int_equal(reads, 2);
	world.jvm.blob_bytes = WIRE_BLOB_BYTES + 1;
	assert_int_equal(blob_read(&world, &nothing, BLOB_AT(100)), UNWIND_STOP);
	assert_int_equal(reads, 2);
}

/* --- hops ------------------------------------------------------------------------------------- */

/* Every segment begins one further back, down to FIRST_SEGMENT, where nothing can be read before. */
static uint64_t first_segment;

static int read_segment(const void *data, uint64_t address, void *dst, size_t len)
{
	uint64_t segment = address - SEGMAP_AT;

	(void)data;
	assert_int_equal(len, 1);
	reads++;
	if (segment < first_segment)
		return -EFAULT;
	*(uint8_t *)dst = segment > first_segment;
	return 0;
}

static struct unwind_memory segments = { .read = read_segment };

static enum blob_hops hop_from(uint64_t segment, uint64_t *ret_segment, uint32_t *ret_hops)
{
	*ret_segment = segment;
	reads = 0;
	return blob_hop(&segments, SEGMAP_AT, ret_segment, ret_hops);
}

static void hops_are_counted(void **state)
{
	uint64_t segment;
	uint32_t hops;

	(void)state;
	first_segment = 100;
	assert_int_equal(hop_from(100, &segment, &hops), BLOB_FOUND);
	assert_true(segment == 100 && hops == 0 && reads == 1);
	assert_int_equal(hop_from(103, &segment, &hops), BLOB_FOUND);
	assert_true(segment == 100 && hops == 3 && reads == 4);
	assert_int_equal(hop_from(99, &segment, &hops), BLOB_UNREADABLE);
	/* As many as HotSpot lets there be, and a little more. */
	assert_int_equal(hop_from(100 + (1 << 14) - 1, &segment, &hops), BLOB_FOUND);
	assert_true(segment == 100 && hops == (1 << 14) - 1);
	assert_int_equal(hop_from(100 + (1 << 14), &segment, &hops), BLOB_FAR);
	assert_int_equal(reads, 1 << 14);
}

/* 254 segments are the longest hop, 255 says free; none leads in front of the heap. */
static void hops_that_are_none(void **state)
{
	static const struct {
		uint64_t segment;
		uint8_t back;
		enum blob_hops result;
	} cases[] = {
		{ 300, 254, BLOB_FOUND }, { 300, 255, BLOB_NONE }, { 254, 254, BLOB_FOUND },
		{ 253, 254, BLOB_NONE },  { 1, 1, BLOB_FOUND },
	};

	uint64_t segment;
	uint32_t hops;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		begin();
		memset(world_segmap, 0, sizeof(world_segmap));
		segment = cases[i].segment;
		world_segmap[segment] = cases[i].back;
		assert_int_equal(blob_hop(&world_memory, SEGMAP_AT, &segment, &hops),
				 cases[i].result);
		if (cases[i].result == BLOB_FOUND)
			assert_int_equal(segment, cases[i].segment - cases[i].back);
	}
}

static void set_heaps(void)
{
	begin();
	for (unsigned int i = 0; i < WIRE_JVM_HEAPS; i++)
		world.jvm.heaps[i] =
			(struct wire_code_heap){ HEAP_AT + 0x1000 * i, HEAP_AT + 0x1000 * i + 0x800,
						 SEGMAP_AT + 0x100 * i };
	world.jvm.heap_count = WIRE_JVM_HEAPS;
}

static const struct wire_code_heap *heap_of(uint64_t pc)
{
	world.pc = pc;
	return blob_heap(&world);
}

static void the_heap_of_a_pc(void **state)
{
	(void)state;
	set_heaps();
	for (unsigned int i = 0; i < WIRE_JVM_HEAPS; i++) {
		assert_null(heap_of(world.jvm.heaps[i].start - 1));
		assert_ptr_equal(heap_of(world.jvm.heaps[i].start), &world.jvm.heaps[i]);
		assert_ptr_equal(heap_of(world.jvm.heaps[i].end - 1), &world.jvm.heaps[i]);
		assert_null(heap_of(world.jvm.heaps[i].end));
	}
	/* What another JVM left behind the last one. */
	world.jvm.heap_count = 2;
	assert_non_null(heap_of(world.jvm.heaps[1].start));
	assert_null(heap_of(world.jvm.heaps[2].start));
	world.jvm.heap_count = 0;
	assert_null(heap_of(world.jvm.heaps[0].start));
}

static void what_the_map_says_of_a_segment(void **state)
{
	(void)state;
	begin();
	world_segmap[20] = 7;
	world_segmap[21] = 8;
	world.pc = HEAP_AT + 21 * SEGMENT - 1;
	assert_int_equal(blob_segment(&world, &world_memory), 7);
	world.pc++;
	assert_int_equal(blob_segment(&world, &world_memory), 8);
	world.jvm.heaps[0].start += 16 * SEGMENT;
	world.jvm.heaps[0].segmap += 16;
	assert_int_equal(blob_segment(&world, &world_memory), 8);
	world.jvm.heaps[0].segmap = 0x1000;
	assert_int_equal(blob_segment(&world, &world_memory), BLOB_SEGMENT_FREE);
	world.pc = HEAP_AT;
	assert_int_equal(blob_segment(&world, &world_memory), BLOB_SEGMENT_FREE);
}

/* From a heap whose code does not begin at the first address of all code. */
static void a_pc_leads_to_its_blob(void **state)
{
	(void)state;
	begin();
	world_blob_far(300, 1000, 4, 1);
	world.jvm.heaps[0].start += 16 * SEGMENT;
	world.jvm.heaps[0].segmap += 16;
	world.pc = HEAP_AT + (300 + BLOB_NEAR_HOPS - 1) * SEGMENT + 5;
	assert_true(blob_locate(&world, &world_memory) == BLOB_AT(300));
	assert_true(world.far_pc == 0);
	world.pc += SEGMENT;
	assert_true(blob_locate(&world, &world_memory) == BLOB_AT(300));
	assert_true(world.far_pc == world.pc && world.far_blob == BLOB_AT(300));
	world.reason = UNWIND_PAGE;
	world.pc = HEAP_AT;
	assert_true(blob_locate(&world, &world_memory) == 0);
	assert_int_equal(world.reason, UNWIND_NO_BLOB);
}

/* --- blobs that are too far away -------------------------------------------------------------- */

static struct wire_far_key far_key;
static wire_u64 far_blob;

static const wire_u64 *find_far(const struct wire_far_key *key, const void *data)
{
	assert_ptr_equal(data, &far_blob);
	far_key = *key;
	return far_blob ? &far_blob : NULL;
}

/* The pc is in segment 30,007 of a heap that begins at segment 7 of the map. */
static wire_u64 locate_far(void)
{
	static const struct unwind_tables tables = { .far_blob = find_far, .data = &far_blob };
	struct unwind_memory memory = { .read = read_segment, .tables = &tables };

	begin();
	world.jvm.serial = 77;
	world.jvm.heaps[0].end = HEAP_AT + (1 << 24);
	world.jvm.heaps[0].segmap = SEGMAP_AT + 7;
	world.pc = HEAP_AT + 30000 * SEGMENT + 5;
	return blob_locate(&world, &memory);
}

static void userspace_finds_far_blobs(void **state)
{
	(void)state;
	first_segment = 7 + 200;
	far_blob = HEAP_AT + 200 * SEGMENT + HEADER;
	assert_true(locate_far() == far_blob);
	assert_true(far_key.segment == HEAP_AT + 30000 * SEGMENT);
	assert_int_equal(far_key.serial, 77);
	/* No block begins there any more, or the map is gone, or nobody has found it. */
	far_blob += SEGMENT;
	assert_true(locate_far() == 0);
	assert_int_equal(world.reason, UNWIND_NO_BLOB);
	far_blob -= 2 * SEGMENT;
	assert_true(locate_far() == 0);
	far_blob = 0;
	assert_true(locate_far() == 0);
	assert_int_equal(world.reason, UNWIND_NO_BLOB);
	/* Where the map cannot be read there is none either. */
	far_blob = HEAP_AT + 200 * SEGMENT + HEADER;
	first_segment = 7 + 30001;
	assert_true(locate_far() == 0);
	assert_int_equal(world.reason, UNWIND_NO_BLOB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bounds_of_code),
		cmocka_unit_test(a_jvm_that_is_forgotten),
		cmocka_unit_test(numbers_of_a_blob),
		cmocka_unit_test(where_a_frame_is_complete),
		cmocka_unit_test(where_code_begins),
		cmocka_unit_test(what_a_blob_holds),
		cmocka_unit_test(what_a_deoptimisation_handler_is),
		cmocka_unit_test(a_blob_is_read_once),
		cmocka_unit_test(hops_are_counted),
		cmocka_unit_test(hops_that_are_none),
		cmocka_unit_test(the_heap_of_a_pc),
		cmocka_unit_test(what_the_map_says_of_a_segment),
		cmocka_unit_test(a_pc_leads_to_its_blob),
		cmocka_unit_test(userspace_finds_far_blobs),
	};

	return cmocka_run_group_tests_name("blob_find", tests, NULL, NULL);
}
