/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "agent_records.h"

#define MARK_BYTES sizeof(struct codemap_record)

/* A record of SIZE bytes, which must fit. */
static void put(struct agent *a, uint32_t size, uint64_t address)
{
	struct codemap_record *r = ring_reserve(&a->ring, CODEMAP_DYNAMIC, size, address, 0);
	struct codemap_dynamic *d = (void *)r;

	if (!d) {
		fail_msg("no room for %u bytes", size);
		return;
	}
	d->address = address;
	d->code_bytes = 1;
	d->name_len = 0;
	ring_commit(&a->ring, r);
}

static void records_come_as_they_were_written(void **state)
{
	struct agent *a = fake_agent();
	struct records r;
	uint64_t next = 1, seen = 0;

	(void)state;
	records_open(&r, a);
	/* Three times around, with all rests before the ring's end. */
	while (a->ring.head < 3ULL * CODEMAP_RING_BYTES) {
		for (int i = 0; i < 200; i++, next++)
			put(a, 40 + (uint32_t)(next * 37 % 3000), next);
		records_read(&r);
		for (unsigned int i = 0; i < r.count; i++) {
			assert_int_equal(r.all[i].event.kind, CODEMAP_DYNAMIC);
			assert_int_equal(r.all[i].event.dynamic.address, ++seen);
			assert_int_equal(r.all[i].event.time_ns, seen);
			assert_int_equal(r.all[i].event.flags, 0);
		}
	}
	assert_int_equal(seen, next - 1);
	assert_int_equal(a->ring.header->records, next - 1);
	assert_int_equal(a->ring.header->dropped, 0);
	records_close(&r);
	fake_drop(a);
}

/* Sizes are rounded up to 8; the record says so. */
static void a_record_is_a_multiple_of_eight(void **state)
{
	struct agent *a = fake_agent();
	struct codemap_record *r = ring_reserve(&a->ring, CODEMAP_DYNAMIC, 41, 1, 0);

	(void)state;
	assert_int_equal(r->size, 48);
	ring_commit(&a->ring, r);
	assert_int_equal(a->ring.header->head, 48);
	r = ring_reserve(&a->ring, CODEMAP_DYNAMIC, 48, 1, 0);
	assert_int_equal(r->size, 48);
	ring_commit(&a->ring, r);
	fake_drop(a);
}

/* Exactly full is full; one record less is not. */
static void all_of_the_ring_is_used(void **state)
{
	struct agent *a = fake_agent();
	uint64_t n = 0;

	(void)state;
	while (a->ring.head < CODEMAP_RING_BYTES) {
		put(a, 64, ++n);
		assert_int_equal(a->ring.head, n * 64);
	}
	assert_null(ring_reserve(&a->ring, CODEMAP_UNLOAD, MARK_BYTES, 1, 0));
	a->ring.header->tail = 64;
	assert_null(ring_reserve(&a->ring, CODEMAP_UNLOAD, 72, 1, 0));
	put(a, 64, ++n);
	assert_null(ring_reserve(&a->ring, CODEMAP_UNLOAD, MARK_BYTES, 1, 0));
	fake_drop(a);
}

static void spare_bytes_stay_free(void **state)
{
	struct agent *a = fake_agent();
	struct codemap_record *r;

	(void)state;
	a->ring.head = CODEMAP_RING_BYTES - 4096;
	assert_null(ring_reserve(&a->ring, CODEMAP_UNLOAD, 64, 1, 4096 - 56));
	r = ring_reserve(&a->ring, CODEMAP_UNLOAD, 64, 1, 4096 - 64);
	assert_non_null(r);
	ring_commit(&a->ring, r);
	fake_drop(a);
}

/* A consumer that writes nonsense makes the ring full, nothing else. */
static void a_wrong_tail_makes_it_full(void **state)
{
	struct agent *a = fake_agent();

	(void)state;
	a->ring.header->tail = 8;
	assert_null(ring_reserve(&a->ring, CODEMAP_UNLOAD, 64, 1, 0));
	a->ring.header->tail = 0;
	put(a, 64, 1);
	fake_drop(a);
}

/* What was lost is announced once, before the next record, with the first one's time. */
static void a_gap_comes_before_the_next_record(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	ring_drop(&a->ring, 500);
	ring_drop(&a->ring, 600);
	ring_drop(&a->ring, 700);
	assert_int_equal(a->ring.header->dropped, 3);
	put(a, 64, 900);
	put(a, 64, 901);
	assert_int_equal(records_read(&r), 3);
	assert_int_equal(r.all[0].event.kind, CODEMAP_GAP);
	assert_int_equal(r.all[0].event.gap.dropped, 3);
	assert_int_equal(r.all[0].event.time_ns, 500);
	assert_int_equal(r.all[1].event.kind, CODEMAP_DYNAMIC);
	assert_int_equal(r.all[2].event.kind, CODEMAP_DYNAMIC);
	ring_drop(&a->ring, 1000);
	ring_announce_gap(&a->ring);
	ring_announce_gap(&a->ring);
	assert_int_equal(records_read(&r), 1);
	assert_int_equal(r.all[0].event.gap.dropped, 1);
	assert_int_equal(r.all[0].event.time_ns, 1000);
	assert_int_equal(a->ring.header->dropped, 4);
	records_close(&r);
	fake_drop(a);
}

/* The whole way: a live event finds the ring full, is counted, and the reader learns of it. */
static void an_overrun_is_announced(void **state)
{
	struct agent *a = fake_agent();
	struct records r;
	struct codemap_record *record;
	uint64_t n = 0;

	(void)state;
	records_open(&r, a);
	while (a->ring.head < CODEMAP_RING_BYTES)
		put(a, 2048, ++n);
	assert_null(agent_reserve(a, CODEMAP_UNLOAD, sizeof(struct codemap_unload), 77));
	assert_null(agent_reserve(a, CODEMAP_UNLOAD, sizeof(struct codemap_unload), 78));
	assert_int_equal(a->ring.header->dropped, 2);
	assert_int_equal(records_read(&r), n);
	record = agent_reserve(a, CODEMAP_UNLOAD, sizeof(struct codemap_unload), 79);
	assert_non_null(record);
	((struct codemap_unload *)record)->address = 0x1000;
	ring_commit(&a->ring, record);
	assert_int_equal(records_read(&r), 2);
	assert_int_equal(r.all[0].event.kind, CODEMAP_GAP);
	assert_int_equal(r.all[0].event.time_ns, 77);
	assert_int_equal(r.all[0].event.gap.dropped, 2);
	assert_int_equal(r.all[1].event.kind, CODEMAP_UNLOAD);
	records_close(&r);
	fake_drop(a);
}

static void a_lease_holds_until_its_time(void **state)
{
	struct agent *a = fake_agent();

	(void)state;
	assert_false(ring_has_consumer(&a->ring, 1000));
	a->ring.header->lease_until_ns = 1000;
	assert_true(ring_has_consumer(&a->ring, 999));
	assert_false(ring_has_consumer(&a->ring, 1000));
	assert_false(ring_has_consumer(&a->ring, 1001));
	/* Far in the future is a broken consumer's. */
	a->ring.header->lease_until_ns = 1000 + 2 * CODEMAP_LEASE_NS;
	assert_true(ring_has_consumer(&a->ring, 1000));
	a->ring.header->lease_until_ns++;
	assert_false(ring_has_consumer(&a->ring, 1000));
	fake_drop(a);
}

static void the_memory_is_what_the_reader_expects(void **state)
{
	struct agent *a = fake_agent();
	const struct codemap_header *h = a->ring.header;

	(void)state;
	assert_memory_equal(&h->magic, "HSTPCMP1", 8);
	assert_int_equal(h->version, 1);
	assert_int_equal(h->header_bytes, CODEMAP_HEADER_BYTES);
	assert_int_equal(h->ring_bytes, CODEMAP_RING_BYTES);
	assert_int_equal(h->ns_pid, getpid());
	assert_int_equal(h->closed_ns, 0);
	assert_true(agent_now_ns() - h->created_ns < 60 * NSEC_PER_SEC);
	assert_int_equal(h->agent_bytes, CODEMAP_HEADER_BYTES + CODEMAP_RING_BYTES +
						 method_table_bytes() + live_bytes());
	assert_int_equal(fcntl(a->ring.fd, F_GET_SEALS) & 7,
			 F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW);
	assert_true(fcntl(a->ring.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(lseek(a->ring.fd, 0, SEEK_END), CODEMAP_HEADER_BYTES + CODEMAP_RING_BYTES);
	assert_true(ring_allocate(&a->ring));
	fake_drop(a);
}

/* The consumer learns that nothing more will come. */
static void a_closed_ring_says_so(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	a->ring.header->events_on = CODEMAP_WANT_CODE;
	assert_false(codemap_reader_is_closed(&r.reader));
	ring_close(&a->ring);
	assert_true(codemap_reader_is_closed(&r.reader));
	assert_true(codemap_reader_events_off(&r.reader));
	assert_int_equal(a->ring.fd, -1);
	assert_null(a->ring.header);
	assert_null(a->ring.data);
	/* Again is nothing. */
	ring_close(&a->ring);
	records_close(&r);
	fake_drop(a);
}

#define WRITERS	      4
#define WRITER_PUTS   4000
#define WRITER_NUMBER (1ULL << 32)

static void *write_many(void *data)
{
	uint64_t first = *(uint64_t *)data;

	for (uint64_t i = 1; i <= WRITER_PUTS; i++)
		put(&agent, 64, first + i);
	return NULL;
}

/* The lock keeps records of threads apart: each comes whole, and a thread's in their order. */
static void threads_write_one_after_the_other(void **state)
{
	struct agent *a = fake_agent();
	uint64_t first[WRITERS], seen[WRITERS] = { 0 };
	pthread_t threads[WRITERS];
	struct records r;

	(void)state;
	records_open(&r, a);
	for (uint64_t i = 0; i < WRITERS; i++) {
		first[i] = i * WRITER_NUMBER;
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, &first[i]), 0);
	}
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(a->ring.head, WRITERS * WRITER_PUTS * 64);
	records_read(&r);
	for (unsigned int i = 0; i < r.count; i++) {
		uint64_t at = r.all[i].event.dynamic.address;

		assert_int_equal(at % WRITER_NUMBER, ++seen[at / WRITER_NUMBER % WRITERS]);
	}
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(seen[i], WRITER_PUTS);
	records_close(&r);
	fake_drop(a);
}

static void *drop_many(void *data)
{
	(void)data;
	for (int i = 0; i < 50 * WRITER_PUTS; i++)
		ring_drop(&agent.ring, 5);
	return NULL;
}

/* What several threads lose at the same time is counted whole. */
static void threads_lose_records_together(void **state)
{
	struct agent *a = fake_agent();
	pthread_t threads[WRITERS];
	struct records r;

	(void)state;
	records_open(&r, a);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, drop_many, NULL), 0);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	ring_announce_gap(&a->ring);
	assert_int_equal(records_read(&r), 1);
	assert_int_equal(r.all[0].event.gap.dropped, WRITERS * 50 * WRITER_PUTS);
	assert_int_equal(a->ring.header->dropped, WRITERS * 50 * WRITER_PUTS);
	records_close(&r);
	fake_drop(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_as_they_were_written),
		cmocka_unit_test(a_record_is_a_multiple_of_eight),
		cmocka_unit_test(all_of_the_ring_is_used),
		cmocka_unit_test(spare_bytes_stay_free),
		cmocka_unit_test(a_wrong_tail_makes_it_full),
		cmocka_unit_test(a_gap_comes_before_the_next_record),
		cmocka_unit_test(an_overrun_is_announced),
		cmocka_unit_test(a_lease_holds_until_its_time),
		cmocka_unit_test(the_memory_is_what_the_reader_expects),
		cmocka_unit_test(a_closed_ring_says_so),
		cmocka_unit_test(threads_write_one_after_the_other),
		cmocka_unit_test(threads_lose_records_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
