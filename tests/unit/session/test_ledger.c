/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "session/figures/ledger.h"

static struct ledger_entry *get(struct ledger *ledger, uint32_t pid, uint32_t exec_id,
				const char *comm)
{
	return ledger_get(ledger, pid, exec_id, 1000, NULL, comm);
}

/* A sample of the generation that get() gives, which is PROCESS from now on. */
static struct ledger_entry *take(struct ledger *ledger, struct profile *profile,
				 struct process *process, uint32_t exec_id,
				 enum unwind_reason reason)
{
	const struct wire_sample sample = { .size = sizeof(sample),
					    .reason = (uint8_t)reason,
					    .tgid = process->pid,
					    .tid = process->pid,
					    .exec_id = exec_id,
					    .start_ns = 1000,
					    .comm = "comm",
					    .weight = 10 };
	const struct symbolized symbolized = { 0 };
	uint32_t thread;

	return ledger_take(ledger, profile, process, &sample, &symbolized, &thread);
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
	struct process process = { .pid = 7 };
	struct ledger_entry *entry;
	struct profile profile;
	uint32_t event;

	(void)state;
	ledger_init(&ledger);
	profile_init(&profile);
	event = profile_event(&profile, &(struct profile_event){ .period = 10 });
	entry = take(&ledger, &profile, &process, 1, UNWIND_DONE);
	assert_ptr_equal(take(&ledger, &profile, &process, 1, UNWIND_PAGE), entry);
	take(&ledger, &profile, &process, 1, UNWIND_KERNEL_THREAD);
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
static void take_marked(struct ledger *ledger, struct profile *profile, struct process *process,
			enum unwind_reason reason, enum wire_mark mark)
{
	const uint64_t words[] = { 0xffffffff81000000, 0x401000,
				   (uint64_t)WIRE_FRAME_MARK << WIRE_FRAME_KIND_SHIFT | mark,
				   0x402000 };
	_cleanup_free_ struct wire_sample *sample = xcalloc(1, sizeof(*sample) + sizeof(words));
	const struct symbolized symbolized = { 0 };
	uint32_t thread;

	sample->size = (uint32_t)(sizeof(*sample) + sizeof(words));
	sample->reason = (uint8_t)reason;
	sample->weight = 10;
	sample->kernel_frames = 1;
	sample->user_words = 3;
	sample->user_frames = 3;
	memcpy(sample->words, words, sizeof(words));
	sample->tgid = process->pid;
	sample->exec_id = 1;
	sample->start_ns = 1000;
	ledger_take(ledger, profile, process, sample, &symbolized, &thread);
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
	struct process process = { .pid = 7 };
	struct ledger ledger;
	struct profile profile;
	uint32_t event;

	(void)state;
	ledger_init(&ledger);
	profile_init(&profile);
	event = profile_event(&profile, &(struct profile_event){ .period = 10 });
	take(&ledger, &profile, &process, 1, UNWIND_DONE);
	take_marked(&ledger, &profile, &process, UNWIND_DONE, WIRE_MARK_ANCHOR);
	take_marked(&ledger, &profile, &process, UNWIND_DONE, WIRE_MARK_FROZEN);
	/* One that did not end well either is counted once, by its end. */
	take_marked(&ledger, &profile, &process, UNWIND_DEPTH, WIRE_MARK_ANCHOR);
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

static uint32_t thread_of(struct ledger *ledger, struct profile *profile, struct process *process,
			  uint32_t tid, const char *name)
{
	const struct wire_sample sample = { .size = sizeof(sample),
					    .tgid = process->pid,
					    .tid = tid,
					    .exec_id = 1,
					    .start_ns = 1000 };
	const struct symbolized symbolized = { .thread_name = profile_string(profile, name),
					       .java_tid = 31 };
	uint32_t thread;

	ledger_take(ledger, profile, process, &sample, &symbolized, &thread);
	return thread;
}

static uint32_t virtual_thread_of(struct ledger *ledger, struct profile *profile,
				  struct process *process, uint32_t id)
{
	const struct wire_sample sample = {
		.size = sizeof(sample), .tgid = process->pid, .tid = 8, .virtual_id = id
	};
	const struct symbolized symbolized = { .thread_name = profile_string(profile, "request"),
					       .java_tid = id,
					       .is_virtual = true };
	uint32_t thread;

	ledger_take(ledger, profile, process, &sample, &symbolized, &thread);
	return thread;
}

/* Several of one name run on one thread. */
static void test_virtual_threads(void **state)
{
	struct process process = { .pid = 7 };
	struct ledger ledger;
	struct profile profile;
	uint32_t thread;

	(void)state;
	ledger_init(&ledger);
	profile_init(&profile);
	thread = virtual_thread_of(&ledger, &profile, &process, 31);
	assert_int_equal(profile_get_thread(&profile, thread)->is_virtual, 1);
	assert_int_not_equal(thread, virtual_thread_of(&ledger, &profile, &process, 32));
	assert_int_equal(thread, virtual_thread_of(&ledger, &profile, &process, 31));
	ledger_release(&ledger);
	profile_release(&profile);
}

static void test_ids_follow_the_tables(void **state)
{
	struct process process = { .pid = 7 };
	struct ledger ledger;
	struct ledger_entry *entry;
	struct profile profile;
	uint32_t thread;

	(void)state;
	ledger_init(&ledger);
	profile_init(&profile);
	thread = thread_of(&ledger, &profile, &process, 8, "main");
	assert_int_equal(profile_get_thread(&profile, thread)->java_tid, 31);
	assert_int_equal(thread, thread_of(&ledger, &profile, &process, 8, "main"));
	assert_int_not_equal(thread, thread_of(&ledger, &profile, &process, 8, "renamed"));
	/* The idle task's: its number and that of the empty name are 0, as the first thread's is. */
	thread = thread_of(&ledger, &profile, &process, 0, "");
	assert_int_equal(profile_get_thread(&profile, thread)->tid, 0);
	entry = get(&ledger, 7, 1, "java");
	profile_release(&profile);
	profile_init(&profile);
	ledger_reset_ids(&ledger);
	assert_int_equal(ledger.entries.len, 1);
	assert_ptr_equal(ledger.entries.items[0], entry);
	thread = thread_of(&ledger, &profile, &process, 8, "renamed");
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
		processes[pid].pid = pid;
		take(&ledger, &profile, &processes[pid], 1, UNWIND_DONE);
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
	assert_int_equal(ledger.samples, 100);
	assert_int_equal(ledger.complete, 100);
	/* Of the new one there is nothing yet. */
	assert_int_equal(ledger.processes, 100);
	take(&ledger, &profile, &processes[1], 1, UNWIND_DONE);
	take(&ledger, &profile, &processes[1], 1, UNWIND_DONE);
	assert_int_equal(ledger.processes, 101);
	ledger_release(&ledger);
	profile_release(&profile);
}

/* Which entry is the process's: that of its last sample. */
static void test_whose_entry_it_is(void **state)
{
	struct process first = { .pid = 7 }, next = { .pid = 7 };
	struct ledger ledger;
	struct ledger_entry *a, *b, *lost;
	struct profile profile;

	(void)state;
	ledger_init(&ledger);
	profile_init(&profile);
	a = take(&ledger, &profile, &first, 1, UNWIND_DONE);
	assert_ptr_equal(take(&ledger, &profile, &first, 1, UNWIND_DONE), a);
	assert_ptr_equal(a->process, &first);
	/* an exec whose record was lost */
	b = take(&ledger, &profile, &first, 2, UNWIND_DONE);
	assert_null(a->process);
	assert_ptr_equal(b->process, &first);
	take(&ledger, &profile, &next, 2, UNWIND_DONE);
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
	profile_release(&profile);
}

static char some_jvm; /* its address is all that matters */

struct greeting {
	unsigned int count;
	struct process *process;
	struct jvm *jvm;
	uint64_t time_ns;
};

static void greet(struct ledger_entry *entry, struct process *process, struct jvm *jvm,
		  const struct wire_sample *sample, void *data)
{
	struct greeting *greeting = data;

	greeting->count++;
	greeting->process = process;
	greeting->jvm = jvm;
	greeting->time_ns = sample->time_ns;
	if (entry->profile_id == PROFILE_NONE)
		ledger_entry_set_jvm(entry, jvm ? "17" : "none", "");
}

static const char *greeted(struct ledger *ledger, struct profile *profile, struct process *process,
			   struct jvm *jvm, uint64_t time_ns)
{
	const struct wire_sample sample = {
		.size = sizeof(sample), .tgid = process->pid, .exec_id = 1, .time_ns = time_ns
	};
	const struct symbolized symbolized = { .jvm = jvm };
	uint32_t thread;

	ledger_take(ledger, profile, process, &sample, &symbolized, &thread);
	thread = profile_get_thread(profile, thread)->process;
	return profile_get_string(profile, profile_get_process(profile, thread)->jvm_version);
}

/* Before its labels are in the tables, and when it becomes a JVM; no more. */
static void test_greetings(void **state)
{
	struct process first = { .pid = 7 }, next = { .pid = 8 };
	struct greeting greeting = { 0 };
	struct ledger ledger;
	struct profile profile;
	struct jvm *jvm = (struct jvm *)(void *)&some_jvm;

	(void)state;
	ledger_init(&ledger);
	profile_init(&profile);
	ledger.greet = greet;
	ledger.greet_data = &greeting;
	assert_string_equal(greeted(&ledger, &profile, &first, NULL, 1), "none");
	assert_ptr_equal(greeting.process, &first);
	assert_null(greeting.jvm);
	greeted(&ledger, &profile, &first, NULL, 2);
	assert_int_equal(greeting.count, 1);
	/* Its labels stay: it must not become two. */
	assert_string_equal(greeted(&ledger, &profile, &first, jvm, 3), "none");
	assert_int_equal(greeting.count, 2);
	assert_ptr_equal(greeting.jvm, jvm);
	assert_int_equal(greeting.time_ns, 3);
	greeted(&ledger, &profile, &first, jvm, 4);
	assert_int_equal(greeting.count, 2);
	assert_string_equal(greeted(&ledger, &profile, &next, jvm, 5), "17");
	greeted(&ledger, &profile, &next, jvm, 6);
	assert_int_equal(greeting.count, 3);
	/* The tables were emptied. */
	profile_release(&profile);
	profile_init(&profile);
	ledger_reset_ids(&ledger);
	assert_string_equal(greeted(&ledger, &profile, &first, jvm, 7), "17");
	assert_int_equal(greeting.count, 4);
	ledger_release(&ledger);
	profile_release(&profile);
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
		cmocka_unit_test(test_greetings),
		cmocka_unit_test(test_figures_reach_the_profile),
		cmocka_unit_test(test_losses_by_reason),
		cmocka_unit_test(test_skipped_frames_are_not_complete),
		cmocka_unit_test(test_ids_follow_the_tables),
		cmocka_unit_test(test_virtual_threads),
		cmocka_unit_test(test_whose_entry_it_is),
		cmocka_unit_test(test_processes_that_are_gone),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
