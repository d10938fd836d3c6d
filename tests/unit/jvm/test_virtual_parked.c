/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual threads without a carrier: who waits, for what, under which name, and the bytes of its frames. */
#include "test.h"

#include "fake_virtual.h"

static struct virtual_parked_list found;
static struct virtual_parked_wanted wanted;

static int read_it(void)
{
	virtual_parked_list_release(&found);
	memset(&found, 0, sizeof(found));
	wanted.deadline_ns = clock_now_ns() + 10 * NSEC_PER_SEC;
	return virtual_parked_read(&layout, &wanted, &found);
}

static void begin_read(uint32_t release)
{
	begin_virtual(release);
	wanted = (struct virtual_parked_wanted){ .most = 100, .bytes = 1 << 20 };
}

static void end(void)
{
	virtual_parked_list_release(&found);
	memset(&found, 0, sizeof(found));
	fake_vm_release(&w.vm);
}

static const struct virtual_parked *of(uint64_t id)
{
	for (size_t i = 0; i < found.items.len; i++)
		if (found.items.items[i].id == id)
			return &found.items.items[i];
	return NULL;
}

/* The piece WHICH is what lies at ADDRESS. */
static void expect_piece(const struct virtual_parked *p, uint32_t which, uint64_t address,
			 uint32_t bytes)
{
	const uint8_t *at = p->data;

	assert_true(which < p->piece_count);
	for (uint32_t i = 0; i < which; i++)
		at += p->pieces[i].bytes;
	assert_true(p->pieces[which].at == address);
	assert_int_equal(p->pieces[which].bytes, bytes);
	assert_memory_equal(at, memory()->bytes + (address - FAKE_BASE), bytes);
}

static void names_and_frames(void **state)
{
	(void)state;
	for (uint32_t release = 21; release <= 25; release += 4) {
		begin_read(release);
		const uint64_t chunks[] = { add_chunk(15, 0), add_chunk(4, 0), add_chunk(19, 0) };
		const uint64_t threads[] = {
			add_virtual(31, STATE_IS_PARKED, add_string("p\xe4rk", 4, 1), chunks[0]),
			add_virtual(32, STATE_IS_PARKED, add_string("\x3b\x04x\0", 4, 2),
				    chunks[1]),
			add_virtual(33, STATE_IS_PARKED, 0, chunks[2])
		};

		put_root(threads, 3);
		assert_int_equal(read_it(), 0);
		assert_int_equal(found.items.len, 3);
		assert_true(virtual_parked_weight(&found) == 1);
		assert_int_equal(of(31)->name_width, 1);
		assert_int_equal(of(31)->name_bytes, 4);
		assert_memory_equal(of(31)->name, "p\xe4rk", 4);
		assert_int_equal(of(32)->name_width, 2);
		assert_memory_equal(of(32)->name, "\x3b\x04x\0", 4);
		assert_int_equal(of(33)->name_bytes, 0);
		for (unsigned int i = 0; i < 3; i++) {
			const uint32_t sp[] = { 15, 4, 19 };
			const struct virtual_parked *p = of(31 + i);

			assert_true(p->chunk == chunks[i]);
			assert_int_equal(p->piece_count, 2);
			expect_piece(p, 0, chunks[i], CHUNK_STACK);
			expect_piece(p, 1, chunks[i] + CHUNK_STACK + 8 * (sp[i] - 2),
				     8 * (CHUNK_WORDS - sp[i] + 2));
		}
		end();
	}
}

static void who_waits(void **state)
{
	static const struct {
		uint32_t state;
		enum wire_cause cause;
	} cases[] = {
		{ 2, WIRE_CAUSE_NONE },		  { 4, WIRE_CAUSE_PARK },
		{ 7, WIRE_CAUSE_PARK },		  { 9, WIRE_CAUSE_NONE },
		{ 11, WIRE_CAUSE_NONE },	  { 13, WIRE_CAUSE_MONITOR_ENTER },
		{ 14, WIRE_CAUSE_NONE },	  { 16, WIRE_CAUSE_MONITOR_ENTER },
		{ 18, WIRE_CAUSE_MONITOR_ENTER }, { 99, WIRE_CAUSE_NONE },
		{ 256 + 4, WIRE_CAUSE_PARK },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		begin_read(25);
		const uint64_t thread = add_virtual(5, cases[i].state, 0, add_chunk(8, 0));

		put_root(&thread, 1);
		assert_int_equal(read_it(), 0);
		assert_int_equal(found.items.len, cases[i].cause != WIRE_CAUSE_NONE);
		if (found.items.len)
			assert_int_equal(of(5)->cause, cases[i].cause);
		end();
	}
}

/* One that runs on a carrier, one that is no virtual thread, one that never ran, one without a number. */
static void who_does_not(void **state)
{
	(void)state;
	begin_read(21);
	const uint64_t threads[] = { add_virtual(1, STATE_IS_PARKED, 0, add_chunk(8, 0)),
				     add_object(w.string_klass),
				     add_virtual(2, STATE_IS_PARKED, 0, 0),
				     add_virtual(0, STATE_IS_PARKED, 0, add_chunk(8, 0)),
				     add_virtual(3, STATE_IS_PARKED, 0, add_chunk(8, 0)) };

	put_reference(threads[0] + VIRTUAL_ON, threads[1]);
	/* All but its class is a thread's that waits. */
	memcpy(memory()->bytes + (threads[1] - FAKE_BASE) + 16,
	       memory()->bytes + (threads[4] - FAKE_BASE) + 16, OBJECT_BYTES - 16);
	put_root(threads, 5);
	assert_int_equal(read_it(), 0);
	assert_int_equal(found.items.len, 1);
	assert_non_null(of(3));
	/* Who was in no chunk was chosen, too. */
	assert_int_equal(found.unread, 1);
	assert_int_equal(found.waiting, 2);
	end();
}

static void older_chunks(void **state)
{
	(void)state;
	begin_read(21);
	uint64_t oldest = add_chunk(10, 0), third = add_chunk(11, oldest);
	uint64_t second = add_chunk(12, third), first = add_chunk(13, second);
	const uint64_t thread = add_virtual(1, STATE_IS_PARKED, 0, first);
	const uint32_t none = CHUNK_WORDS + 1;

	put_root(&thread, 1);
	assert_int_equal(read_it(), 0);
	assert_int_equal(of(1)->piece_count, 6);
	expect_piece(of(1), 0, first, CHUNK_STACK);
	expect_piece(of(1), 2, second, CHUNK_STACK);
	expect_piece(of(1), 3, second + CHUNK_STACK + 80, 80);
	expect_piece(of(1), 4, third, CHUNK_STACK);
	expect_piece(of(1), 5, third + CHUNK_STACK + 72, 88);
	/* An empty one's stack pointer is at its end. */
	fake_put(memory(), first + CHUNK_SP, &(uint32_t){ CHUNK_WORDS }, 4);
	assert_int_equal(read_it(), 0);
	assert_int_equal(of(1)->piece_count, 5);
	expect_piece(of(1), 1, second, CHUNK_STACK);
	/* Fields that no chunk has. */
	fake_put(memory(), first + CHUNK_SP, &none, 4);
	assert_int_equal(read_it(), 0);
	assert_int_equal(found.items.len, 0);
	assert_int_equal(found.unread, 1);
	end();
}

/* --- a heap that changes ---------------------------------------------------------------------- */

static struct vm_memory changing;
static unsigned int calls, collects_until;
static uint64_t watched;
static size_t watched_bytes; /* that were asked for there */

static void change(int (*read)(const struct vm_memory *vm, const struct vm_span *spans,
			       unsigned int count))
{
	changing = memory()->memory;
	changing.read = read;
	layout.threads.memory = &changing;
}

static int measuring_read(const struct vm_memory *vm, const struct vm_span *spans,
			  unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (spans[i].address == watched)
			watched_bytes = spans[i].len;
	return fake_read(vm, spans, count);
}

static void hostile_chunks(void **state)
{
	static const struct {
		uint32_t field, value;
	} cases[] = {
		{ CHUNK_SIZE, 2U << 20 },
		{ CHUNK_SIZE, CHUNK_WORDS - 1 },
		{ CHUNK_SP, 1 },
		{ CHUNK_SP, UINT32_MAX },
		{ CHUNK_BOTTOM, UINT32_MAX },
		{ CHUNK_BOTTOM, CHUNK_WORDS + 1 },
		{ 8, 0x4711 }, /* its class */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		begin_read(21);
		const uint64_t chunk = add_chunk(8, 0), good = add_chunk(8, 0);
		const uint64_t threads[] = { add_virtual(1, STATE_IS_PARKED, 0, chunk),
					     add_virtual(2, STATE_IS_PARKED, 0, good) };

		put_root(threads, 2);
		fake_put(memory(), chunk + cases[i].field, &cases[i].value, 4);
		assert_int_equal(read_it(), 0);
		assert_int_equal(found.items.len, 1);
		assert_non_null(of(2));
		end();
	}
	/* More frames than there is memory for: no more than the youngest ones are asked for. */
	begin_read(21);
	const uint64_t chunk = add_chunk(8, 0), thread = add_virtual(1, STATE_IS_PARKED, 0, chunk);

	put_root(&thread, 1);
	fake_put(memory(), chunk + CHUNK_SIZE, &(uint32_t){ 8300 }, 4);
	fake_put(memory(), chunk + CHUNK_BOTTOM, &(uint32_t){ 8300 }, 4);
	watched = chunk + CHUNK_STACK + 8 * 6;
	watched_bytes = 0;
	change(measuring_read);
	assert_int_equal(read_it(), 0);
	assert_int_equal(found.items.len, 0);
	assert_int_equal(found.unread, 1);
	assert_int_equal(watched_bytes, 65536);
	end();
}

/* One whose memory is gone does not hide the others. */
static void one_is_gone(void **state)
{
	uint64_t threads[20];

	(void)state;
	begin_read(21);
	for (unsigned int i = 0; i < 20; i++)
		threads[i] = add_virtual(100 + i, STATE_IS_PARKED, 0, add_chunk(8, 0));
	put_root(threads, 20);
	put_reference(threads[7] + VIRTUAL_CONT, FAKE_BASE + 2 * FAKE_BYTES);
	assert_int_equal(read_it(), 0);
	assert_int_equal(found.items.len, 19);
	assert_int_equal(found.unread, 1);
	assert_null(of(107));
	end();
}

static void a_part(void **state)
{
	uint64_t threads[40];
	unsigned int first = 0;

	(void)state;
	begin_read(21);
	for (unsigned int i = 0; i < 40; i++)
		threads[i] = add_virtual(100 + i, STATE_IS_PARKED, 0, add_chunk(18, 0));
	put_root(threads, 40);
	wanted.most = 8;
	for (unsigned int i = 0; i < 200; i++) {
		assert_int_equal(read_it(), 0);
		assert_int_equal(found.items.len, 8);
		assert_true(virtual_parked_weight(&found) == 5);
		first += of(100) != NULL;
	}
	/* Anybody may be one of them: 40 of 200 are expected. */
	assert_in_range(first, 10, 80);
	/* So many bytes, or a few more. */
	wanted.most = 100;
	wanted.bytes = 1;
	assert_int_equal(read_it(), -E2BIG);
	assert_in_range(found.items.len, 1, 16);
	assert_true(virtual_parked_weight(&found) * (double)found.items.len == 40);
	end();
}

static int collecting_read(const struct vm_memory *vm, const struct vm_span *spans,
			   unsigned int count)
{
	if (++calls <= collects_until)
		collect(calls);
	return fake_read(vm, spans, count);
}

static void a_collection(void **state)
{
	(void)state;
	begin_read(21);
	const uint64_t thread = add_virtual(1, STATE_IS_PARKED, 0, add_chunk(8, 0));

	put_root(&thread, 1);
	change(collecting_read);
	/* It goes on for some tries, and ends. */
	calls = 0;
	collects_until = 40;
	assert_int_equal(read_it(), 0);
	assert_int_equal(found.items.len, 1);
	assert_true(calls > 40);
	/* It never does. */
	calls = 0;
	collects_until = UINT32_MAX;
	assert_int_equal(read_it(), -EAGAIN);
	assert_int_equal(found.items.len, 0);
	wanted.deadline_ns = clock_now_ns();
	assert_int_equal(virtual_parked_read(&layout, &wanted, &found), -ETIMEDOUT);
	end();
}

static unsigned int watched_reads;

/* What is read at `watched` has moved while it was, the first time. */
static int moving_read(const struct vm_memory *vm, const struct vm_span *spans, unsigned int count)
{
	int r = fake_read(vm, spans, count);

	for (unsigned int i = 0; i < count; i++)
		if (spans[i].address == watched && !watched_reads++)
			collect(1);
	return r;
}

/* The same, when a thread had been on a carrier before. */
static int landing_read(const struct vm_memory *vm, const struct vm_span *spans, unsigned int count)
{
	unsigned int before = watched_reads;
	int r = moving_read(vm, spans, count);

	if (before != watched_reads)
		fake_put(memory(), watched + VIRTUAL_ON, &(uint32_t){ 0 }, 4);
	return r;
}

static void one_that_moves(void **state)
{
	(void)state;
	begin_read(21);
	const uint64_t chunk = add_chunk(8, 0), thread = add_virtual(1, STATE_IS_PARKED, 0, chunk);

	put_root(&thread, 1);
	watched = chunk + CHUNK_STACK + 8 * 6;
	watched_reads = 0;
	change(moving_read);
	assert_int_equal(read_it(), 0);
	assert_int_equal(found.items.len, 1);
	assert_int_equal(watched_reads, 2);
	/* A list that has nobody may be that of a heap that has moved. */
	collect(0);
	put_reference(thread + VIRTUAL_ON, chunk);
	watched = thread;
	watched_reads = 0;
	change(landing_read);
	assert_int_equal(read_it(), 0);
	assert_int_equal(found.items.len, 1);
	end();
}

static uint64_t going, going_at;

/* When its chunk's frames have been read. */
static int going_read(const struct vm_memory *vm, const struct vm_span *spans, unsigned int count)
{
	const uint32_t runs = 2;
	int r = fake_read(vm, spans, count);

	for (unsigned int i = 0; i < count; i++)
		if (spans[i].address == going_at)
			fake_put(memory(), going + VIRTUAL_STATE, &runs, 4);
	return r;
}

static void one_goes_on(void **state)
{
	(void)state;
	begin_read(21);
	const uint64_t chunks[] = { add_chunk(8, 0), add_chunk(8, 0) };
	const uint64_t threads[] = { add_virtual(1, STATE_IS_PARKED, 0, chunks[0]),
				     add_virtual(2, STATE_IS_PARKED, 0, chunks[1]) };

	put_root(threads, 2);
	going = threads[1];
	going_at = chunks[1] + CHUNK_STACK + 8 * 6;
	change(going_read);
	assert_int_equal(read_it(), 0);
	assert_int_equal(found.items.len, 1);
	assert_non_null(of(1));
	/* The one that is left stands for itself. */
	assert_true(virtual_parked_weight(&found) == 1);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_frames), cmocka_unit_test(who_waits),
		cmocka_unit_test(who_does_not),	    cmocka_unit_test(older_chunks),
		cmocka_unit_test(hostile_chunks),   cmocka_unit_test(one_is_gone),
		cmocka_unit_test(a_part),	    cmocka_unit_test(a_collection),
		cmocka_unit_test(one_that_moves),   cmocka_unit_test(one_goes_on),
	};

	return cmocka_run_group_tests_name("virtual_parked", tests, NULL, NULL);
}
