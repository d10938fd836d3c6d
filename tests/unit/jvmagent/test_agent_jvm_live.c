/* SPDX-License-Identifier: Apache-2.0 */
/* What a JVM's agent says of the objects that it follows, between the agent's code and ours. */
#include "test.h"

#include "agent_records.h"
#include "jvm/jvm_private.h"

struct world {
	struct agent *a;
	struct jvm *jvm;
	struct fake_object objects[20];
	uint64_t ids[20];
	void *buffer;
};

/* A JVM whose agent follows objects. */
static int setup(void **state)
{
	const struct mapping libjvm = { .path = (char *)(uintptr_t) "/nowhere/libjvm.so" };
	struct world *w = calloc(1, sizeof(*w));
	struct err err = { 0 };

	w->a = fake_agent();
	w->jvm = jvm_new((uint32_t)getpid(), &libjvm, NULL);
	w->jvm->serial = 5;
	w->jvm->store = codemap_store_new();
	w->jvm->live.follows = true;
	w->buffer = xmalloc(CODEMAP_READ_BYTES);
	assert_int_equal(codemap_reader_open_fd(dup(w->a->ring.fd), &w->jvm->reader, &err), 0);
	assert_int_equal(codemap_reader_take_lease(&w->jvm->reader, clock_now_ns(), &err), 0);
	live_begin(w->a);
	agent_switch_events(w->a, CODEMAP_WANT_LIVE);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	jvm_free(w->jvm);
	agent_switch_events(w->a, 0);
	fake_drop(w->a);
	free(w->buffer);
	free(w);
	return 0;
}

static void track_all(struct world *w)
{
	for (unsigned int i = 0; i < 20; i++)
		w->ids[i] = live_track(w->a, &fake_jni, (void *)&w->objects[i]);
	fake_collection(true);
	live_watch(w->a);
}

/* The control thread looks at its word. */
static void agent_turn(struct world *w)
{
	struct codemap_header *h = w->a->ring.header;

	if (h->done_seq != h->command_seq)
		carry_out(w->a, h->command_seq);
}

static void poll(struct world *w)
{
	jvm_poll(w->jvm, w->buffer, clock_now_ns(), UINT64_MAX);
}

static void all_is_told(void **state)
{
	struct world *w = *state;
	struct jvm_live_report report;

	track_all(w);
	for (unsigned int i = 0; i < 20; i++)
		w->objects[i].dead = i % 4;
	assert_false(jvm_live_report(w->jvm, &report));
	jvm_live_ask(w->jvm, false, clock_now_ns() + NSEC_PER_SEC);
	assert_true(jvm_live_is_waited_for(w->jvm, clock_now_ns()));
	/* Not told yet is no answer. */
	assert_true(jvm_live_report(w->jvm, &report));
	assert_null(report.alive);
	agent_turn(w);
	poll(w);
	assert_false(jvm_live_is_waited_for(w->jvm, clock_now_ns()));
	assert_true(jvm_live_report(w->jvm, &report));
	assert_int_equal(report.serial, 5);
	assert_int_equal(report.pid, getpid());
	assert_int_equal(report.count, 5);
	assert_int_equal(report.level, 0);
	for (unsigned int i = 0; i < 5; i++) {
		assert_int_equal(report.alive[i].id, w->ids[4 * i]);
		assert_int_equal(report.alive[i].age, 1);
	}
	assert_int_equal(fake_heap.forced, 0);
}

static void nothing_alive_is_an_answer(void **state)
{
	struct world *w = *state;
	struct jvm_live_report report;

	jvm_live_ask(w->jvm, true, clock_now_ns() + NSEC_PER_SEC);
	agent_turn(w);
	poll(w);
	assert_true(jvm_live_report(w->jvm, &report));
	assert_non_null(report.alive);
	assert_int_equal(report.count, 0);
	assert_int_equal(fake_heap.forced, 1);
}

static void who_is_silent_is_not_waited_for(void **state)
{
	struct world *w = *state;
	uint64_t now_ns = clock_now_ns();

	jvm_live_ask(w->jvm, false, now_ns + 1000);
	assert_true(jvm_live_is_waited_for(w->jvm, now_ns + 999));
	assert_false(jvm_live_is_waited_for(w->jvm, now_ns + 1000));
	/* An agent that has gone is not waited for either. */
	jvm_live_ask(w->jvm, false, now_ns + NSEC_PER_SEC);
	w->a->ring.header->closed_ns = 1;
	poll(w);
	assert_false(jvm_live_is_waited_for(w->jvm, now_ns));
}

/* The word holds one command: that before must be done. */
static void a_replay_is_not_overtaken(void **state)
{
	struct world *w = *state;
	struct codemap_header *h = w->a->ring.header;

	codemap_reader_command(&w->jvm->reader, CODEMAP_COMMAND_START, CODEMAP_WANT_LIVE);
	jvm_live_ask(w->jvm, false, clock_now_ns() + NSEC_PER_SEC);
	assert_int_equal(h->command, CODEMAP_COMMAND_START);
	assert_true(jvm_live_is_waited_for(w->jvm, clock_now_ns()));
	agent_turn(w);
	poll(w);
	assert_int_equal(h->command, CODEMAP_COMMAND_LIVE);
	/* And no replay overtakes it, though records were lost. */
	codemap_store_note_gap(w->jvm->store, 1);
	w->jvm->replay_asked_ns = 0;
	poll(w);
	assert_int_equal(h->command, CODEMAP_COMMAND_LIVE);
	agent_turn(w);
	poll(w);
	poll(w);
	assert_int_equal(h->command, CODEMAP_COMMAND_START);
}

static void note_gone(uint64_t serial, uint64_t id, uint32_t level, void *data)
{
	uint64_t *sums = data;

	assert_int_equal(serial, 5);
	sums[0] += id != 0;
	sums[1] += id;
	if (!id)
		sums[2] = level;
}

static void what_has_gone_is_handed_out_once(void **state)
{
	struct world *w = *state;
	struct round round = { 0 };
	uint64_t sums[3] = { 0 };

	track_all(w);
	w->objects[3].dead = w->objects[8].dead = true;
	w->a->live.level = 0;
	go_round(w->a, &fake_jni, &round);
	poll(w);
	jvm_live_hand_out_gone(w->jvm, 1, note_gone, sums);
	assert_int_equal(sums[0], 0);
	jvm_live_hand_out_gone(w->jvm, clock_now_ns(), note_gone, sums);
	jvm_live_hand_out_gone(w->jvm, clock_now_ns(), note_gone, sums);
	assert_int_equal(sums[0], 2);
	assert_int_equal(sums[1], w->ids[3] + w->ids[8]);
	assert_int_equal(sums[2], 0);
	/* A level is told of once, too. */
	thin_out(w->a, &fake_jni);
	poll(w);
	jvm_live_hand_out_gone(w->jvm, 1, note_gone, sums);
	assert_int_equal(sums[2], 1);
}

/* An answer to somebody who is not there any more. */
static void another_ones_report_is_not_ours(void **state)
{
	struct world *w = *state;
	struct jvm_live_report report;

	track_all(w);
	report_live(w->a, 77, false);
	poll(w);
	assert_false(jvm_live_report(w->jvm, &report));
	jvm_live_ask(w->jvm, false, clock_now_ns() + NSEC_PER_SEC);
	report_live(w->a, w->jvm->live.seq + 1, false);
	poll(w);
	assert_true(jvm_live_report(w->jvm, &report));
	assert_null(report.alive);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_alive_is_an_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(who_is_silent_is_not_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(a_replay_is_not_overtaken, setup, teardown),
		cmocka_unit_test_setup_teardown(what_has_gone_is_handed_out_once, setup, teardown),
		cmocka_unit_test_setup_teardown(another_ones_report_is_not_ours, setup, teardown),
	};

	return cmocka_run_group_tests_name("jvm_live", tests, NULL, NULL);
}
