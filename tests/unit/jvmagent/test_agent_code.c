/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "agent_records.h"

/* Inlining of up to four pcs with up to four frames each, as HotSpot hands it over. */
struct inlined {
	jvmtiCompiledMethodLoadInlineRecord record;
	PCStackInfo pcs[4];
	jmethodID methods[4][4];
	jint bcis[4][4];
};

static void inlined_init(struct inlined *in)
{
	memset(in, 0, sizeof(*in));
	in->record.header.kind = JVMTI_CMLR_INLINE_INFO;
	in->record.header.majorinfoversion = JVMTI_CMLR_MAJOR_VERSION_1;
	in->record.pcinfo = in->pcs;
}

/* One more pc; METHODS ("10": method 1 in method 0), bcis 10, 11, … from the innermost. */
static void inlined_add(struct inlined *in, int64_t offset, const char *methods)
{
	PCStackInfo *pc = &in->pcs[in->record.numpcs];
	jmethodID *ids = in->methods[in->record.numpcs];
	jint *bcis = in->bcis[in->record.numpcs++];

	pc->pc = (void *)(uintptr_t)((uint64_t)CODE + (uint64_t)offset);
	pc->methods = ids;
	pc->bcis = bcis;
	for (; *methods; methods++, pc->numstackframes++) {
		*ids++ = fake_id(*methods - '0');
		*bcis++ = 10 + pc->numstackframes;
	}
}

static void load(struct agent *a, const void *info, uint32_t bytes)
{
	const struct code_event event = { fake_id(0), CODE, bytes, info, 4711 };

	code_publish(a, &fake_jni, &event);
}

static void code_without_inlining(void **state)
{
	struct agent *a = fake_agent();
	const struct kept_record *l;
	struct records r;

	(void)state;
	records_open(&r, a);
	load(a, NULL, 256);
	assert_int_equal(records_read(&r), 2);
	assert_int_equal(r.all[0].event.kind, CODEMAP_METHOD);
	l = &r.all[1];
	assert_int_equal(l->event.kind, CODEMAP_LOAD);
	assert_int_equal(l->event.flags, 0);
	assert_int_equal(l->event.time_ns, 4711);
	assert_true(l->event.load.address == (uint64_t)CODE);
	assert_int_equal(l->event.load.code_bytes, 256);
	assert_int_equal(l->event.load.pc_count, 0);
	assert_int_equal(l->event.load.method, 1);
	/* The method is known now. */
	load(a, NULL, 128);
	assert_int_equal(records_read(&r), 1);
	assert_int_equal(r.all[0].event.load.method, 1);
	assert_int_equal(r.all[0].event.load.code_bytes, 128);
	records_close(&r);
	fake_drop(a);
}

static void frames_are_innermost_first(void **state)
{
	struct agent *a = fake_agent();
	const struct kept_record *l;
	struct inlined in;
	struct records r;

	(void)state;
	inlined_init(&in);
	inlined_add(&in, 0, "0");
	inlined_add(&in, 16, "10");
	inlined_add(&in, 256, "110");
	records_open(&r, a);
	load(a, &in, 256);
	assert_int_equal(records_read(&r), 3);
	assert_string_equal(r.all[0].text, "run");
	assert_string_equal(r.all[1].text, "add");
	l = records_one(&r, CODEMAP_LOAD);
	assert_int_equal(l->event.flags, 0);
	assert_int_equal(l->event.load.pc_count, 3);
	assert_int_equal(l->pcs[0].offset, 0);
	assert_int_equal(l->pcs[0].depth, 1);
	assert_int_equal(l->pcs[0].frames[0].method, 1);
	assert_int_equal(l->pcs[0].frames[0].bci, 10);
	assert_int_equal(l->pcs[1].offset, 16);
	assert_int_equal(l->pcs[1].depth, 2);
	assert_int_equal(l->pcs[1].frames[0].method, 2);
	assert_int_equal(l->pcs[1].frames[0].bci, 10);
	assert_int_equal(l->pcs[1].frames[1].method, 1);
	assert_int_equal(l->pcs[1].frames[1].bci, 11);
	assert_int_equal(l->pcs[2].offset, 256);
	assert_int_equal(l->pcs[2].depth, 3);
	assert_int_equal(l->pcs[2].frames[2].method, 1);
	assert_int_equal(l->pcs[2].frames[2].bci, 12);
	records_close(&r);
	fake_drop(a);
}

/* Outside of the code, not ascending, without frames: such pcs are left out. */
static void wrong_pcs_are_left_out(void **state)
{
	struct agent *a = fake_agent();
	const struct kept_record *l;
	struct inlined in[2];
	struct records r;

	(void)state;
	inlined_init(&in[0]);
	inlined_add(&in[0], -1, "0");
	inlined_add(&in[0], 8, "0");
	inlined_add(&in[0], 8, "0");
	inlined_add(&in[0], 7, "0");
	inlined_init(&in[1]);
	inlined_add(&in[1], 1, "");
	inlined_add(&in[1], 2, "0");
	inlined_add(&in[1], 3, "0");
	inlined_add(&in[1], 257, "0");
	in[1].pcs[1].bcis = NULL;
	in[1].pcs[2].methods = NULL;
	records_open(&r, a);
	load(a, &in[0], 256);
	records_read(&r);
	l = records_one(&r, CODEMAP_LOAD);
	assert_int_equal(l->event.load.pc_count, 1);
	assert_int_equal(l->pcs[0].offset, 8);
	load(a, &in[1], 256);
	records_read(&r);
	assert_int_equal(records_one(&r, CODEMAP_LOAD)->event.load.pc_count, 0);
	records_close(&r);
	fake_drop(a);
}

/* Only the inline record of the version that we know, wherever it stands in the list. */
static void the_inline_record_is_found(void **state)
{
	struct agent *a = fake_agent();
	struct inlined dummy, newer, in, twice;
	struct records r;

	(void)state;
	inlined_init(&dummy);
	inlined_init(&newer);
	inlined_init(&in);
	inlined_init(&twice);
	inlined_add(&twice, 4, "0");
	inlined_add(&dummy, 1, "0");
	inlined_add(&newer, 2, "0");
	inlined_add(&in, 3, "0");
	dummy.record.header.kind = JVMTI_CMLR_DUMMY;
	newer.record.header.majorinfoversion = JVMTI_CMLR_MAJOR_VERSION_1 + 1;
	dummy.record.header.next = &newer.record.header;
	newer.record.header.next = &in.record.header;
	records_open(&r, a);
	load(a, &dummy, 256);
	records_read(&r);
	assert_int_equal(records_one(&r, CODEMAP_LOAD)->event.load.pc_count, 1);
	assert_int_equal(records_one(&r, CODEMAP_LOAD)->pcs[0].offset, 3);
	/* Of two, the first. */
	in.record.header.next = &twice.record.header;
	load(a, &dummy, 256);
	records_read(&r);
	assert_int_equal(records_one(&r, CODEMAP_LOAD)->pcs[0].offset, 3);
	newer.record.header.next = NULL;
	load(a, &dummy, 256);
	records_read(&r);
	assert_int_equal(records_one(&r, CODEMAP_LOAD)->event.load.pc_count, 0);
	in.record.pcinfo = NULL;
	load(a, &in, 256);
	records_read(&r);
	assert_int_equal(records_one(&r, CODEMAP_LOAD)->event.load.pc_count, 0);
	records_close(&r);
	fake_drop(a);
}

/* A chain of DEPTH frames: method 1 in method 1 in … method 0. */
static PCStackInfo deep(int64_t offset, jint depth)
{
	PCStackInfo pc = { (void *)(uintptr_t)((uint64_t)CODE + (uint64_t)offset), depth, NULL,
			   NULL };

	pc.methods = calloc((size_t)depth, sizeof(*pc.methods));
	pc.bcis = calloc((size_t)depth, sizeof(*pc.bcis));
	for (jint i = 0; i < depth; i++) {
		pc.methods[i] = fake_id(i < depth - 1);
		pc.bcis[i] = i;
	}
	return pc;
}

static void drop_deep(const PCStackInfo *pc)
{
	free(pc->methods);
	free(pc->bcis);
}

struct deepest {
	uint32_t count, depth;
	uint16_t flags;
	struct codemap_frame innermost, outermost;
};

static void see_deepest(const struct codemap_event *event, void *data)
{
	const struct codemap_pc *pc = event->load.pcs;
	struct deepest *d = data;

	if (event->kind != CODEMAP_LOAD)
		return;
	d->count = event->load.pc_count;
	d->flags = event->flags;
	d->depth = 0;
	if (!d->count)
		return;
	d->depth = pc->depth;
	d->innermost = codemap_pc_frames(pc)[0];
	d->outermost = codemap_pc_frames(pc)[pc->depth - 1];
}

static struct deepest read_deepest(struct records *r)
{
	static _Alignas(8) char buffer[CODEMAP_READ_BYTES];
	struct deepest d = { 0 };

	assert_int_equal(codemap_reader_drain(&r->reader, buffer, NULL, see_deepest, &d), 0);
	return d;
}

/* The outermost frames are kept: the stack above stays true. */
static void deep_inlining_loses_its_innermost_frames(void **state)
{
	struct agent *a = fake_agent();
	PCStackInfo pcs[] = { deep(8, CODE_MAX_DEPTH), deep(8, CODE_MAX_DEPTH + 3) };
	struct records r;
	struct inlined in;
	struct deepest d;

	(void)state;
	inlined_init(&in);
	in.record.numpcs = 1;
	records_open(&r, a);
	in.record.pcinfo = &pcs[0];
	load(a, &in, 256);
	d = read_deepest(&r);
	assert_int_equal(d.depth, CODE_MAX_DEPTH);
	assert_int_equal(d.flags, 0);
	assert_int_equal(d.innermost.bci, 0);
	in.record.pcinfo = &pcs[1];
	load(a, &in, 256);
	d = read_deepest(&r);
	assert_int_equal(d.depth, CODE_MAX_DEPTH);
	assert_int_equal(d.flags, CODEMAP_FLAG_CUT);
	assert_int_equal(d.innermost.bci, 3);
	assert_int_equal(d.outermost.bci, CODE_MAX_DEPTH + 2);
	assert_int_equal(d.outermost.method, 1);
	drop_deep(&pcs[0]);
	drop_deep(&pcs[1]);
	records_close(&r);
	fake_drop(a);
}

/* PCS of DEPTH each: what is published of the first. */
static struct deepest load_many(struct agent *a, struct records *r, jint pcs, jint depth)
{
	PCStackInfo one = deep(0, depth), *all = calloc((size_t)pcs, sizeof(*all));
	struct deepest d;
	struct inlined in;

	inlined_init(&in);
	in.record.numpcs = pcs;
	in.record.pcinfo = all;
	for (jint i = 0; i < pcs; i++) {
		all[i] = one;
		all[i].pc = (void *)(uintptr_t)((uint64_t)CODE + (uint64_t)i);
	}
	load(a, &in, 1U << 20);
	d = read_deepest(r);
	free(all);
	drop_deep(&one);
	return d;
}

/* A record that is too large is halved in depth until it fits; without any frame it has no pcs. */
static void a_record_too_large_is_made_less_deep(void **state)
{
	struct agent *a = fake_agent();
	struct records r;
	struct deepest d;

	(void)state;
	records_open(&r, a);
	/* 40 + 127 * (8 + 128 * 16) bytes: fits; one more pc does not. */
	d = load_many(a, &r, 127, 128);
	assert_int_equal(d.count, 127);
	assert_int_equal(d.depth, 128);
	assert_int_equal(d.flags, 0);
	d = load_many(a, &r, 128, 128);
	assert_int_equal(d.count, 128);
	assert_int_equal(d.depth, 64);
	assert_int_equal(d.flags, CODEMAP_FLAG_CUT);
	d = load_many(a, &r, 10000, 8);
	assert_int_equal(d.count, 10000);
	assert_int_equal(d.depth, 1);
	assert_int_equal(d.flags, CODEMAP_FLAG_CUT);
	memset(a->ring.data + a->ring.head % CODEMAP_RING_BYTES, 0xff, 4096);
	d = load_many(a, &r, 11000, 2);
	/* Nothing is written behind the record. */
	for (uint64_t i = 0; i < 256; i++)
		assert_int_equal(a->ring.data[a->ring.head % CODEMAP_RING_BYTES + i], 0xff);
	assert_int_equal(d.count, 0);
	assert_int_equal(d.flags, CODEMAP_FLAG_CUT);
	records_close(&r);
	fake_drop(a);
}

/* Without room for its names the code is not published either. */
static void a_full_ring_loses_code_and_counts_it(void **state)
{
	struct agent *a = fake_agent();

	(void)state;
	a->ring.head = CODEMAP_RING_BYTES;
	load(a, NULL, 256);
	assert_int_equal(a->ring.header->dropped, 1);
	assert_int_equal(a->ring.head, CODEMAP_RING_BYTES);
	/* The method fits, its code does not. */
	a->ring.head = CODEMAP_RING_BYTES - 120;
	load(a, NULL, 256);
	assert_int_equal(method_table_find(&a->methods, fake_id(0)), 1);
	assert_int_equal(a->ring.header->dropped, 2);
	assert_int_equal(pthread_mutex_trylock(&a->ring.lock), 0);
	fake_drop(a);
}

static void a_method_without_a_name_has_number_0(void **state)
{
	struct agent *a = fake_agent();
	struct inlined in;
	struct records r;

	(void)state;
	fake.methods[1].class_signature = NULL;
	inlined_init(&in);
	inlined_add(&in, 8, "10");
	records_open(&r, a);
	load(a, &in, 256);
	assert_int_equal(records_read(&r), 2);
	assert_int_equal(records_one(&r, CODEMAP_LOAD)->pcs[0].frames[0].method, 0);
	assert_int_equal(records_one(&r, CODEMAP_LOAD)->pcs[0].frames[1].method, 1);
	records_close(&r);
	fake_drop(a);
}

static int named;

/* Another thread fills the table meanwhile, and it is emptied. */
static void emptied_meanwhile(jmethodID method)
{
	(void)method;
	if (++named == 2)
		forget_methods(&agent);
}

/* Then the methods are named again: a frame never has the number of nothing. */
static void names_that_were_forgotten_are_given_again(void **state)
{
	struct agent *a = fake_agent();
	const struct kept_record *l;
	struct inlined in;
	struct records r;

	(void)state;
	inlined_init(&in);
	inlined_add(&in, 8, "10");
	records_open(&r, a);
	named = 0;
	fake.naming = emptied_meanwhile;
	load(a, &in, 256);
	assert_int_equal(named, 3);
	assert_int_equal(records_read(&r), 4);
	l = records_one(&r, CODEMAP_LOAD);
	assert_int_equal(l->event.load.method, 3);
	assert_int_equal(l->pcs[0].frames[0].method, 2);
	assert_int_equal(l->pcs[0].frames[1].method, 3);
	assert_int_equal(pthread_mutex_trylock(&a->ring.lock), 0);
	pthread_mutex_unlock(&a->ring.lock);
	records_close(&r);
	fake_drop(a);
}

/* As often as it happens, the code is published at last, with the names that are left. */
static void emptied_always(jmethodID method)
{
	(void)method;
	named++;
	forget_methods(&agent);
}

static void naming_has_an_end(void **state)
{
	struct agent *a = fake_agent();
	struct inlined in;
	struct records r;

	(void)state;
	inlined_init(&in);
	inlined_add(&in, 8, "10");
	records_open(&r, a);
	named = 0;
	fake.naming = emptied_always;
	load(a, &in, 256);
	/* Three in the first turn, then the two that the last one of them forgot. */
	assert_int_equal(named, 3 + 2 * (CODE_TRIES - 1));
	records_read(&r);
	assert_int_equal(records_one(&r, CODEMAP_LOAD)->event.load.method, named);
	assert_int_equal(records_one(&r, CODEMAP_LOAD)->pcs[0].frames[0].method, 0);
	assert_int_equal(records_one(&r, CODEMAP_LOAD)->pcs[0].frames[1].method, named);
	assert_int_equal(pthread_mutex_trylock(&a->ring.lock), 0);
	pthread_mutex_unlock(&a->ring.lock);
	records_close(&r);
	fake_drop(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_without_inlining),
		cmocka_unit_test(frames_are_innermost_first),
		cmocka_unit_test(wrong_pcs_are_left_out),
		cmocka_unit_test(the_inline_record_is_found),
		cmocka_unit_test(deep_inlining_loses_its_innermost_frames),
		cmocka_unit_test(a_record_too_large_is_made_less_deep),
		cmocka_unit_test(a_full_ring_loses_code_and_counts_it),
		cmocka_unit_test(a_method_without_a_name_has_number_0),
		cmocka_unit_test(names_that_were_forgotten_are_given_again),
		cmocka_unit_test(naming_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
