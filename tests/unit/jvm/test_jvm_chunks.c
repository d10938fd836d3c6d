/* SPDX-License-Identifier: Apache-2.0 */
/* Where a virtual thread's frames in the heap are, by the JVM's own description of two of its classes. */
#include "test.h"

#include "fake_chunks.h"

static int setup(void **state)
{
	struct chunks_vm *f = new_vm(false);

	put_fields(f);
	*state = f;
	return 0;
}

static int setup_older(void **state)
{
	struct chunks_vm *f = new_vm(true);

	put_fields(f);
	*state = f;
	return 0;
}

static int setup_empty(void **state)
{
	*state = new_vm(false);
	return 0;
}

static int teardown(void **state)
{
	close_vm(*state);
	return 0;
}

static void expect_read(struct chunks_vm *f, struct wire_chunks *ret_chunks)
{
	assert_int_equal(read_it(f, ret_chunks), 0);
	assert_int_equal(ret_chunks->tail, 32);
	assert_int_equal(ret_chunks->parent, 40);
	assert_int_equal(ret_chunks->size, 12);
	assert_int_equal(ret_chunks->sp, 24);
	assert_int_equal(ret_chunks->stack, 48);
}

static void expect_not(struct chunks_vm *f, int error)
{
	static const struct wire_chunks none;
	struct wire_chunks chunks = { .stack = 7 };

	assert_int_equal(read_it(f, &chunks), error);
	assert_memory_equal(&chunks, &none, sizeof(none));
}

/* --- */

static void the_fields(void **state)
{
	struct chunks_vm *f = *state;
	struct wire_chunks chunks;

	expect_read(f, &chunks);
	assert_int_equal(chunks.bottom, 28);
	assert_int_equal(chunks.argsize, WIRE_JVM_ABSENT);
	assert_int_equal(chunks.oop_bytes, 4);
	assert_int_equal(chunks.oop_shift, 3);
	assert_true(chunks.oop_base == 0x7000);
	assert_int_equal(chunks.klass_at, 8);
	assert_true(chunks.klass_mask == UINT32_MAX);
	assert_true(chunks.klass == (f->klass[CHUNK] - BASE) >> 3);
}

static void whole_addresses(void **state)
{
	struct chunks_vm *f = *state;
	struct wire_chunks chunks;

	set_flag(f, COMPRESSED_OOPS, 0);
	set_flag(f, COMPRESSED_CLASSES, 0);
	expect_read(f, &chunks);
	assert_int_equal(chunks.oop_bytes, 8);
	assert_true(chunks.klass_mask == UINT64_MAX && chunks.klass == f->klass[CHUNK]);
}

static void compact_headers(void **state)
{
	struct chunks_vm *f = *state;
	struct wire_chunks chunks;

	set_flag(f, COMPACT_HEADERS, 1);
	expect_read(f, &chunks);
	assert_int_equal(chunks.klass_at, 0);
	assert_true(chunks.klass_mask == UINT64_MAX << 42);
	assert_true(chunks.klass == ((f->klass[CHUNK] - BASE) >> 3) << 42);
}

static void pack_chunk(struct chunks_vm *f, uint32_t parent, uint32_t size, uint32_t sp,
		       uint32_t bottom_name, uint32_t bottom)
{
	pack(f, CONT, 1);
	pack(f, CONT, 0);
	pack_field(f, CONT, TAIL, 32, 0);
	put_stream(f, CONT);
	pack(f, CHUNK, 4);
	pack(f, CHUNK, 0);
	pack_field(f, CHUNK, PARENT, parent, 0);
	pack_field(f, CHUNK, SIZE, size, 0);
	pack_field(f, CHUNK, SP, sp, 0);
	pack_field(f, CHUNK, bottom_name, bottom, 0);
	put_stream(f, CHUNK);
}

/* What the JVM adds: cont, flags, pc, maxThawingSize. */
static uint16_t room_of(struct chunks_vm *f, uint32_t added, uint32_t offset, uint32_t flags)
{
	const uint32_t offsets[] = { 44, 36, 16, offset };
	struct wire_chunks chunks;

	f->len[CHUNK] = 0;
	pack_fields(f, 4, added);
	for (uint32_t i = 0; i < added; i++)
		pack_field(f, CHUNK, 30, offsets[i], flags);
	put_stream(f, CHUNK);
	expect_read(f, &chunks);
	return chunks.room;
}

static void the_room(void **state)
{
	struct chunks_vm *f = *state;

	assert_int_equal(room_of(f, 4, 32, 0), 32);
	assert_int_equal(room_of(f, 3, 32, 0), WIRE_JVM_ABSENT);
	assert_int_equal(room_of(f, 0, 32, 0), WIRE_JVM_ABSENT);
	assert_int_equal(room_of(f, 4, 33, 0), WIRE_JVM_ABSENT);
	assert_int_equal(room_of(f, 4, 48, 0), WIRE_JVM_ABSENT);
	assert_int_equal(room_of(f, 4, 32, 2), WIRE_JVM_ABSENT); /* flags may add numbers */
}

static void the_arguments_size(void **state)
{
	struct chunks_vm *f = *state;
	struct wire_chunks chunks;

	pack_chunk(f, 40, 12, 24, ARGSIZE, 28);
	expect_read(f, &chunks);
	assert_int_equal(chunks.bottom, WIRE_JVM_ABSENT);
	assert_int_equal(chunks.argsize, 28);
}

/* All fields lie in front of the stack, each at a multiple of its size. */
static void impossible_offsets(void **state)
{
	static const uint32_t cases[][4] = {
		{ 48, 12, 24, 28 }, { 46, 12, 24, 28 }, { 41, 12, 24, 28 }, { 40, 48, 24, 28 },
		{ 40, 13, 24, 28 }, { 40, 12, 46, 28 }, { 40, 12, 24, 45 }, { 40, 12, 24, 30 },
	};
	struct chunks_vm *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		f->len[0] = f->len[1] = 0;
		pack_chunk(f, cases[i][0], cases[i][1], cases[i][2], BOTTOM, cases[i][3]);
		expect_not(f, -EBADMSG);
	}
}

static void a_field_is_missing(void **state)
{
	struct chunks_vm *f = *state;

	for (uint32_t missing = 0; missing < 4; missing++) {
		static const uint32_t names[] = { PARENT, SIZE, SP, BOTTOM };

		f->len[0] = f->len[1] = 0;
		pack_chunk(f, 40, 12, 24, BOTTOM, 28);
		f->len[CHUNK] = 0;
		pack(f, CHUNK, 3);
		pack(f, CHUNK, 0);
		for (uint32_t i = 0; i < 4; i++)
			if (i != missing)
				pack_field(f, CHUNK, names[i], 40, 0);
		put_stream(f, CHUNK);
		expect_not(f, -EOPNOTSUPP);
	}
	f->len[CONT] = 0;
	pack(f, CONT, 0);
	pack(f, CONT, 0);
	put_stream(f, CONT);
	expect_not(f, -EOPNOTSUPP);
}

/* Cut anywhere, or of a length that cannot be. */
static void damaged_streams(void **state)
{
	struct chunks_vm *f = *state;
	static const int32_t lengths[] = { 0, -1, 1537, INT32_MAX };

	/* The last field is not needed. */
	for (int32_t len = 1; len < (int32_t)f->len[CHUNK] - 6; len++) {
		fake_put(&f->vm.fake, f->stream[CHUNK], &len, sizeof(len));
		expect_not(f, -EBADMSG);
	}
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		fake_put(&f->vm.fake, f->stream[CHUNK], &lengths[i], sizeof(lengths[i]));
		expect_not(f, -EBADMSG);
	}
	put_stream(f, CHUNK);
	fake_put(&f->vm.fake, f->stream[CHUNK] + 4, &(uint8_t){ 130 }, 1); /* 129 fields */
	expect_not(f, -EBADMSG);
	fake_put_u64(&f->vm.fake, f->klass[CHUNK] + 48, 0x5000); /* nowhere */
	expect_not(f, -EFAULT);
}

/* A field with more numbers, of which nobody says how many. */
static void flags_of_a_field(void **state)
{
	struct chunks_vm *f = *state;

	f->len[CHUNK] = 0;
	pack(f, CHUNK, 4);
	pack(f, CHUNK, 0);
	pack_field(f, CHUNK, PARENT, 40, 1);
	put_stream(f, CHUNK);
	expect_not(f, -EOPNOTSUPP);
}

/* The JVM's own fields follow, whose names are numbers of its own. */
static void a_field_of_the_jvms_own(void **state)
{
	struct chunks_vm *f = *state;

	f->len[CHUNK] = 0;
	pack_fields(f, 3, 1);
	put_stream(f, CHUNK);
	expect_not(f, -EOPNOTSUPP);
}

static void codings_that_cannot_be(void **state)
{
	struct chunks_vm *f = *state;

	fake_put_u64(&f->vm.fake, f->oop_shift, 17);
	expect_not(f, -EBADMSG);
	fake_put_u64(&f->vm.fake, f->oop_shift, 3);
	/* The class lies below all that could be told. */
	fake_put_u64(&f->vm.fake, f->klass_base, f->klass[CHUNK] + 8);
	expect_not(f, -EBADMSG);
}

static void sizes_of_an_instance(void **state)
{
	static const uint32_t sizes[] = { 0, 7, 136, 0x80000000, UINT32_MAX };
	struct chunks_vm *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		fake_put(&f->vm.fake, f->klass[CHUNK] + 8, &sizes[i], sizeof(sizes[i]));
		expect_not(f, -EBADMSG);
	}
}

static void classes_to_come(void **state)
{
	struct chunks_vm *f = *state;

	fake_put_u64(&f->vm.fake, f->classes + 100 * 8, 0);
	expect_not(f, -EAGAIN);
	fake_put_u64(&f->vm.fake, f->classes + 100 * 8, f->klass[CONT]);
	fake_put_u64(&f->vm.fake, f->classes + 191 * 8, f->klass[CONT]);
	expect_not(f, -EAGAIN);
}

static void no_z_collector(void **state)
{
	struct chunks_vm *f = *state;

	set_flag(f, ZGC, 1);
	expect_not(f, -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(the_fields, setup_older, teardown),
		cmocka_unit_test_setup_teardown(whole_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(compact_headers, setup, teardown),
		cmocka_unit_test_setup_teardown(the_room, setup, teardown),
		cmocka_unit_test_setup_teardown(the_arguments_size, setup_empty, teardown),
		cmocka_unit_test_setup_teardown(impossible_offsets, setup_empty, teardown),
		cmocka_unit_test_setup_teardown(a_field_is_missing, setup_empty, teardown),
		cmocka_unit_test_setup_teardown(damaged_streams, setup, teardown),
		cmocka_unit_test_setup_teardown(flags_of_a_field, setup, teardown),
		cmocka_unit_test_setup_teardown(a_field_of_the_jvms_own, setup, teardown),
		cmocka_unit_test_setup_teardown(codings_that_cannot_be, setup, teardown),
		cmocka_unit_test_setup_teardown(sizes_of_an_instance, setup, teardown),
		cmocka_unit_test_setup_teardown(classes_to_come, setup, teardown),
		cmocka_unit_test_setup_teardown(no_z_collector, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
