/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "session/ledger.h"

static struct ledger_entry *get(struct ledger *ledger, uint32_t pid, uint32_t exec_id,
				const char *comm)
{
	return ledger_get(ledger, pid, exec_id, 1000, NULL, comm);
}

static void count(struct ledger *ledger, struct ledger_entry *entry, enum unwind_reason reason,
		  uint64_t weight)
{
	struct wire_sample sample = { .size = sizeof(sample),
				      .reason = (uint8_t)reason,
				      .weight = weight };

	ledger_count_sample(ledger, entry, &sample);
}

static void test_generations_are_apart(void **state)
{
	struct ledger ledger;
	struct ledger_entry *before, *after;

	(void)state;
	ledger_init(&ledger);
	before = get(&ledger, 7, 1, "sh");
	after = get(&ledger, 7, 2, "burn");
	assert_ptr_not_equal(before, after);
	assert_ptr_equal(before, get(&ledger, 7, 1, "renamed"));
	assert_string_equal(before->name, "sh");
	ledger_release(&ledger);
}

static void test_figures_reach_the_profile(void **state)
{
	struct ledger ledger;
	struct ledger_entry *entry;
	struct profile profile;
	uint32_t event;

	(void)state;
	ledger_init(&ledger);
	profile_init(&profile);
	event = profile_event(&profile, &(struct profile_event){ .period = 10 });
	entry = get(&ledger, 7, 1, "burn");
	count(&ledger, entry, UNWIND_DONE, 10);
	count(&ledger, entry, UNWIND_PAGE, 10);
	count(&ledger, entry, UNWIND_KERNEL_THREAD, 10);
	entry->counts[0].lost = 4;
	entry->counts[0].lost_weight = 40;
	ledger_write(&ledger, &profile, &event, 1);
	assert_int_equal(profile.quality.len, 1);
	assert_int_equal(profile.quality.items[0].samples, 3);
	assert_int_equal(profile.quality.items[0].complete, 2);
	assert_int_equal(profile.quality.items[0].weight, 30);
	assert_int_equal(profile.quality.items[0].lost_weight, 40);
	/* Only what keeps a stack from being whole is a counter. */
	ledger_write_reasons(&ledger, &profile);
	assert_int_equal(profile.counters.len, 1);
	assert_string_equal(profile_get_string(&profile, profile.counters.items[0].name),
			    "unwind.page-not-resident");
	ledger_release(&ledger);
	profile_release(&profile);
}

static void test_losses_by_reason(void **state)
{
	const struct ledger_loss three = { 3, 30 }, four = { 4, 40 };
	struct ledger ledger;
	struct ledger_entry *entry;
	struct profile profile;
	uint32_t events[2];

	(void)state;
	ledger_init(&ledger);
	profile_init(&profile);
	events[0] = profile_event(&profile, &(struct profile_event){ .period = 10 });
	events[1] = profile_event(&profile, &(struct profile_event){ .period = 20 });
	entry = get(&ledger, 7, 1, "burn");
	ledger_count_lost(&ledger, entry, 1, WIRE_LOSS_RING, &three);
	ledger_count_lost(&ledger, entry, 1, WIRE_LOSS_NESTED, &four);
	ledger_count_lost(&ledger, get(&ledger, 8, 1, "sh"), 0, WIRE_LOSS_NESTED, &four);
	assert_int_equal(ledger_lost(&ledger), 11);
	assert_int_equal(ledger.losses[WIRE_LOSS_NESTED].count, 8);
	assert_int_equal(ledger.losses[WIRE_LOSS_NESTED].weight, 80);
	ledger_write(&ledger, &profile, events, 2);
	assert_int_equal(profile.quality.len, 2);
	assert_int_equal(profile.quality.items[0].event, events[1]);
	assert_int_equal(profile.quality.items[0].lost, 7);
	assert_int_equal(profile.quality.items[0].lost_weight, 70);
	assert_int_equal(profile.quality.items[1].event, events[0]);
	assert_int_equal(profile.quality.items[1].lost_weight, 40);
	ledger_write_reasons(&ledger, &profile);
	assert_int_equal(profile.counters.len, 2);
	assert_string_equal(profile_get_string(&profile, profile.counters.items[0].name),
			    "samples.lost");
	assert_string_equal(profile_get_string(&profile, profile.counters.items[0].detail), "ring");
	assert_int_equal(profile.counters.items[0].value, 3);
	assert_string_equal(profile_get_string(&profile, profile.counters.items[1].detail),
			    "nested");
	assert_int_equal(profile.counters.items[1].value, 8);
	ledger_release(&ledger);
	profile_release(&profile);
}

/* A stack of four words: kernel, native, a mark, native. */
static void count_marked(struct ledger *ledger, struct ledger_entry *entry,
			 enum unwind_reason reason, enum wire_mark mark)
{
	const uint64_t words[] = { 0xffffffff81000000, 0x401000,
				   (uint64_t)WIRE_FRAME_MARK << WIRE_FRAME_KIND_SHIFT | mark,
				   0x402000 };
	_cleanup_free_ struct wire_sample *sample = xcalloc(1, sizeof(*sample) + sizeof(words));

	sample->size = (uint32_t)(sizeof(*sample) + sizeof(words));
	sample->reason = (uint8_t)reason;
	sample->weight = 10;
	sample->kernel_frames = 1;
	sample->user_words = 3;
	sample->user_frames = 3;
	memcpy(sample->words, words, sizeof(words));
	ledger_count_sample(ledger, entry, sample);
}

static uint64_t counter(const struct profile *profile, const char *name)
{
	const struct profile_counter *c;

	vec_for_each (c, &profile->counters)
		if (!strcmp(profile_get_string(profile, c->name), name))
			return c->value;
	return 0;
}

/* That a walk went on past frames which it could not walk does not make its stack whole. */
static void test_skipped_frames_are_not_complete(void **state)
{
	struct ledger ledger;
	struct ledger_entry *entry;
	struct profile profile;
	uint32_t event;

	(void)state;
	ledger_init(&ledger);
	profile_init(&profile);
	event = profile_event(&profile, &(struct profile_event){ .period = 10 });
	entry = get(&ledger, 7, 1, "java");
	count(&ledger, entry, UNWIND_DONE, 10);
	count_marked(&ledger, entry, UNWIND_DONE, WIRE_MARK_ANCHOR);
	count_marked(&ledger, entry, UNWIND_DONE, WIRE_MARK_FROZEN);
	/* One that did not end well either is counted once, by its end. */
	count_marked(&ledger, entry, UNWIND_DEPTH, WIRE_MARK_ANCHOR);
	assert_int_equal(ledger.samples, 4);
	assert_int_equal(ledger.complete, 2);
	ledger_write(&ledger, &profile, &event, 1);
	assert_int_equal(profile.quality.items[0].samples, 4);
	assert_int_equal(profile.quality.items[0].complete, 2);
	ledger_write_reasons(&ledger, &profile);
	assert_int_equal(profile.counters.len, 2);
	assert_int_equal(counter(&profile, "unwind.native-frames-skipped"), 1);
	assert_int_equal(counter(&profile, "unwind.depth"), 1);
	ledger_release(&ledger);
	profile_release(&profile);
}

static void test_ids_follow_the_tables(void **state)
{
	struct ledger ledger;
	struct ledger_entry *entry;
	struct profile profile;
	uint32_t thread;

	(void)state;
	ledger_init(&ledger);
	profile_init(&profile);
	entry = get(&ledger, 7, 1, "java");
	thread = ledger_profile_thread(entry, &profile, 8, "main", 1);
	assert_int_equal(thread, ledger_profile_thread(entry, &profile, 8, "main", 1));
	assert_int_not_equal(thread, ledger_profile_thread(entry, &profile, 8, "renamed", 1));
	/* The idle task's: its number and that of the empty name are 0, as the first thread's is. */
	thread = ledger_profile_thread(entry, &profile, 0, "", 0);
	assert_int_equal(profile_get_thread(&profile, thread)->tid, 0);
	profile_release(&profile);
	profile_init(&profile);
	ledger_reset_ids(&ledger);
	assert_int_equal(ledger.entries.len, 1);
	assert_ptr_equal(ledger.entries.items[0], entry);
	thread = ledger_profile_thread(entry, &profile, 8, "renamed", 1);
	assert_int_equal(profile_get_thread(&profile, thread)->tid, 8);
	assert_string_equal(
		profile_get_string(&profile, profile_get_thread(&profile, thread)->name),
		"renamed");
	ledger_release(&ledger);
	profile_release(&profile);
}

/* A new chunk: who is gone is forgotten, whoever lives keeps labels, and nothing counts twice. */
static void test_processes_that_are_gone(void **state)
{
	struct process processes[101] = { 0 };
	struct ledger ledger;
	struct ledger_entry *last;
	struct profile profile;
	uint32_t event;

	(void)state;
	ledger_init(&ledger);
	profile_init(&profile);
	event = profile_event(&profile, &(struct profile_event){ .period = 10 });
	for (uint32_t pid = 1; pid <= 100; pid++) {
		count(&ledger, get(&ledger, pid, 1, "sh"), UNWIND_DONE, 10);
		ledger_attach(&ledger, get(&ledger, pid, 1, "sh"), &processes[pid]);
	}
	last = get(&ledger, 100, 1, "sh");
	ledger_write(&ledger, &profile, &event, 1);
	assert_int_equal(profile.quality.len, 100);
	for (uint32_t pid = 1; pid <= 100; pid += 2)
		ledger_forget(&ledger, &processes[pid]);
	ledger_forget(&ledger, &processes[1]);
	ledger_reset_ids(&ledger);
	assert_int_equal(ledger.entries.len, 50);
	assert_ptr_equal(get(&ledger, 100, 1, "renamed"), last);
	assert_int_equal(last->counts[0].samples, 0);
	assert_int_equal(ledger.entries.len, 50);
	assert_int_equal(get(&ledger, 1, 1, "again")->counts[0].samples, 0);
	assert_int_equal(ledger.entries.len, 51);
	assert_int_equal(ledger.processes, 101);
	assert_int_equal(ledger.samples, 100);
	assert_int_equal(ledger.complete, 100);
	ledger_release(&ledger);
	profile_release(&profile);
}

/* Which entry is the process's: that of its last sample. */
static void test_whose_entry_it_is(void **state)
{
	struct process first = { .pid = 7 }, next = { .pid = 7 };
	struct ledger ledger;
	struct ledger_entry *a, *b, *lost;

	(void)state;
	ledger_init(&ledger);
	a = get(&ledger, 7, 1, "sh");
	ledger_attach(&ledger, a, &first);
	ledger_attach(&ledger, a, &first);
	assert_ptr_equal(a->process, &first);
	/* an exec whose record was lost */
	b = get(&ledger, 7, 2, "java");
	ledger_attach(&ledger, b, &first);
	assert_null(a->process);
	assert_ptr_equal(b->process, &first);
	ledger_attach(&ledger, b, &next);
	assert_null(first.attached.first);
	ledger_forget(&ledger, &first);
	assert_ptr_equal(b->process, &next);
	/* one that has lost samples only is kept for a chunk: its first may be on its way */
	lost = get(&ledger, 7, 3, "perl");
	ledger_reset_ids(&ledger);
	assert_int_equal(ledger.entries.len, 2);
	assert_ptr_equal(get(&ledger, 7, 2, ""), b);
	assert_ptr_equal(get(&ledger, 7, 3, ""), lost);
	ledger_reset_ids(&ledger);
	assert_int_equal(ledger.entries.len, 1);
	ledger_forget(&ledger, &next);
	assert_null(next.attached.first);
	ledger_reset_ids(&ledger);
	assert_int_equal(ledger.entries.len, 0);
	ledger_release(&ledger);
}

static void test_labels(void **state)
{
	char exe[] = "/bin/x", cgroup[] = "/a.slice";
	struct process process = {
		.comm = "its name", .exe = exe, .cgroup = cgroup, .exec_count = 3
	};
	const struct profile_process *p;
	struct ledger_entry *entry;
	struct profile profile;
	struct ledger ledger;

	(void)state;
	strcpy(process.container_id, "abcdef");
	ledger_init(&ledger);
	profile_init(&profile);
	entry = ledger_get(&ledger, 7, 1, 1000, &process, "comm");
	ledger_entry_set_jvm(entry, "17", "a.Main");
	p = profile_get_process(&profile, ledger_profile_process(entry, &profile));
	assert_int_equal(p->pid, 7);
	assert_int_equal(p->start_ns, 1000);
	assert_int_equal(p->exec_count, 3);
	assert_string_equal(profile_get_string(&profile, p->name), "its name");
	assert_string_equal(profile_get_string(&profile, p->exe), "/bin/x");
	assert_string_equal(profile_get_string(&profile, p->cgroup), "/a.slice");
	assert_string_equal(profile_get_string(&profile, p->container_id), "abcdef");
	assert_string_equal(profile_get_string(&profile, p->jvm_version), "17");
	assert_string_equal(profile_get_string(&profile, p->main_class), "a.Main");
	/* A name of one letter is a name, and without one the sample says it. */
	strcpy(process.comm, "x");
	assert_string_equal(ledger_get(&ledger, 8, 1, 1000, &process, "comm")->name, "x");
	process.comm[0] = '\0';
	assert_string_equal(ledger_get(&ledger, 9, 1, 1000, &process, "comm")->name, "comm");
	ledger_release(&ledger);
	profile_release(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generations_are_apart),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_figures_reach_the_profile),
		cmocka_unit_test(test_losses_by_reason),
		cmocka_unit_test(test_skipped_frames_are_not_complete),
		cmocka_unit_test(test_ids_follow_the_tables),
		cmocka_unit_test(test_whose_entry_it_is),
		cmocka_unit_test(test_processes_that_are_gone),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
