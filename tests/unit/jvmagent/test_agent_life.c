/* SPDX-License-Identifier: Apache-2.0 */
/* How an activation begins, runs and ends, with its thread; and what the agent asks of its JVM. */
#include "test.h"

#include "agent_records.h"

/* --- the thread --------------------------------------------------------------------------------- */

/* Wait for the agent's thread, at most some seconds. */
static bool comes_true(const uint32_t *word, uint32_t value)
{
	for (int i = 0; i < 5000; i++) {
		if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value)
			return true;
		sleep_ns(1000000);
	}
	return false;
}

static void an_attached_agent_serves_until_it_is_stopped(void **state)
{
	struct codemap_header *h;
	struct records r;

	(void)state;
	fake_reset();
	fake.generate = one_stub_and_one_method;
	assert_int_equal(Agent_OnAttach(&fake_vm, (char *)(uintptr_t) "", NULL), AGENT_OK);
	assert_int_equal(fake.agent_threads, 1);
	assert_ptr_equal(fake.group, &fake_groups[0]);
	assert_true(fake.on[JVMTI_EVENT_VM_DEATH]);
	assert_false(fake.on[JVMTI_EVENT_VM_INIT]);
	assert_events(false, false);
	h = agent.ring.header;
	records_open(&r, &agent);
	/* Its idle sleep is 30 s: the command must wake it. */
	codemap_reader_command(&r.reader, CODEMAP_COMMAND_START, BOTH);
	assert_true(comes_true(&h->done_seq, r.reader.seq));
	assert_events(true, true);
	assert_int_equal(records_read(&r), 7);
	/* A command is carried out once. */
	sleep_ns(20000000);
	assert_int_equal(h->replays, 1);
	codemap_reader_command(&r.reader, CODEMAP_COMMAND_STOP, 0);
	assert_true(comes_true(&h->done_seq, r.reader.seq));
	assert_events(false, false);
	codemap_reader_command(&r.reader, CODEMAP_COMMAND_START, BOTH);
	assert_true(comes_true(&h->done_seq, r.reader.seq));
	assert_events(true, true);
	/* A second one finds it running. */
	assert_int_equal(Agent_OnAttach(&fake_vm, NULL, NULL), AGENT_OK);
	assert_int_equal(fake.agent_threads, 1);
	assert_int_equal(Agent_OnAttach(&fake_vm, (char *)(uintptr_t) "x,stop", NULL), AGENT_OK);
	pthread_join(fake.control, NULL);
	assert_true(codemap_reader_is_closed(&r.reader));
	assert_int_equal(agent.active, 0);
	assert_int_equal(agent.control_alive, 0);
	assert_null(agent.ring.header);
	assert_false(fake.on[JVMTI_EVENT_VM_DEATH]);
	assert_events(false, false);
	/* And again, from the beginning. */
	assert_int_equal(Agent_OnAttach(&fake_vm, (char *)(uintptr_t) "start", NULL), AGENT_OK);
	assert_int_equal(fake.agent_threads, 2);
	assert_int_equal(Agent_OnAttach(&fake_vm, (char *)(uintptr_t) "detach", NULL), AGENT_OK);
	pthread_join(fake.control, NULL);
	records_close(&r);
	fake_check_balance();
}

/* The lease lapses in the thread, too, within the promised time. */
static void the_thread_watches_the_lease(void **state)
{
	struct codemap_header *h;
	struct records r;

	(void)state;
	fake_reset();
	assert_int_equal(Agent_OnAttach(&fake_vm, NULL, NULL), AGENT_OK);
	h = agent.ring.header;
	records_open(&r, &agent);
	codemap_reader_command(&r.reader, CODEMAP_COMMAND_START, BOTH);
	assert_true(comes_true(&h->done_seq, r.reader.seq));
	__atomic_store_n(&h->lease_until_ns, 1, __ATOMIC_RELEASE);
	assert_true(comes_true(&h->events_on, 0));
	assert_int_equal(Agent_OnAttach(&fake_vm, (char *)(uintptr_t) "stop", NULL), AGENT_OK);
	pthread_join(fake.control, NULL);
	records_close(&r);
	fake_check_balance();
}

static void a_jvm_without_room_for_a_thread(void **state)
{
	(void)state;
	fake_reset();
	fake.no_agent_thread = true;
	assert_int_equal(Agent_OnAttach(&fake_vm, NULL, NULL), AGENT_NO_THREAD);
	assert_int_equal(agent.active, 0);
	assert_int_equal(agent.control_alive, 0);
	assert_null(agent.ring.header);
	fake.no_jni = true;
	assert_int_equal(Agent_OnAttach(&fake_vm, NULL, NULL), AGENT_NO_THREAD);
	fake_check_balance();
}

/* Loaded with the JVM: the thread begins when the JVM can run it. */
static void an_agent_from_the_command_line_waits_for_the_jvm(void **state)
{
	(void)state;
	fake_reset();
	assert_int_equal(Agent_OnLoad(&fake_vm, NULL, NULL), JNI_OK);
	assert_int_equal(fake.agent_threads, 0);
	assert_int_equal(agent.active, 1);
	assert_true(fake.on[JVMTI_EVENT_VM_INIT]);
	assert_true(fake.on[JVMTI_EVENT_VM_DEATH]);
	fake.callbacks.VMInit(&fake_jvmti, &fake_jni, NULL);
	assert_int_equal(fake.agent_threads, 1);
	fake.callbacks.VMDeath(&fake_jvmti, &fake_jni);
	assert_int_equal(agent.active, 0);
	assert_int_equal(agent.users, 0);
	assert_int_equal(agent.stop, 1);
	pthread_join(fake.control, NULL);
	/* The memory stays: other threads may be in their callbacks. */
	assert_non_null(agent.ring.header);
	agent.active = 1;
	Agent_OnUnload(&fake_vm);
	assert_int_equal(agent.active, 0);
	assert_int_equal(agent_end(&agent), AGENT_OK);
	assert_null(agent.ring.header);
	assert_false(fake.on[JVMTI_EVENT_VM_INIT]);
	fake_check_balance();
}

/* --- what the JVM can --------------------------------------------------------------------------- */

static void jdk_8_reports_code_from_update_382_on(void **state)
{
	static const struct {
		const char *version;
		bool safe;
	} cases[] = {
		{ "25.382-b05", true }, { "25.381-b09", false }, { "25.392-b08", true },
		{ "25.71-b15", false }, { "24.382-b05", false }, { "26.400-b05", false },
		{ "25", false },	{ NULL, false },	 { "25.1382-b05", true },
	};

	jint newer = JVMTI_VERSION_1_2 + (8 << JVMTI_VERSION_SHIFT_MAJOR);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct agent *a = fake_agent();

		fake.jvmti_version = JVMTI_VERSION_1_2;
		fake.vm_version = cases[i].version;
		assert_int_equal(code_events_are_safe(a), cases[i].safe);
		assert_int_equal(a->ring.header->jvmti_version, JVMTI_VERSION_1_2);
		fake.jvmti_version = newer;
		assert_true(code_events_are_safe(a));
		fake.jvmti_version = JVMTI_VERSION_1_2 + (1 << JVMTI_VERSION_SHIFT_MAJOR);
		assert_true(code_events_are_safe(a));
		fake_drop(a);
	}
}

/* Each missing capability costs only what needs it, and the consumer is told. */
static void a_missing_capability_costs_only_its_own(void **state)
{
	struct agent *a = fake_agent();

	(void)state;
	assert_int_equal(a->can, ALL);
	assert_int_equal(a->ring.header->cannot, 0);
	assert_true(a->can_source && a->can_lines);
	for (int i = 0; i < 3; i++) {
		memset(&fake.refused, 0, sizeof(fake.refused));
		fake.refused.can_generate_compiled_method_load_events = i == 0;
		fake.refused.can_get_source_file_name = i == 1;
		fake.refused.can_get_line_numbers = i == 2;
		a->can = 0;
		add_capabilities(a);
		assert_int_equal(a->can, i == 0 ? ALL & ~CODEMAP_WANT_CODE : ALL);
		assert_int_equal(a->ring.header->cannot, i == 0 ? CODEMAP_WANT_CODE : 0);
		assert_int_equal(a->can_source, i != 1);
		assert_int_equal(a->can_lines, i != 2);
	}
	fake_drop(a);
}

static void options_are_whole_words(void **state)
{
	(void)state;
	assert_true(has_option("stop", "stop"));
	assert_true(has_option("start,stop", "stop"));
	assert_true(has_option("stop,start", "stop"));
	assert_false(has_option("stopped", "stop"));
	assert_false(has_option("sto", "stop"));
	assert_false(has_option("nonstop,start", "stop"));
	assert_false(has_option("", "stop"));
	assert_false(has_option(NULL, "stop"));
	assert_int_equal(build_number("1.2.3"), 10203);
	assert_int_equal(build_number("0.1.0"), 100);
	assert_int_equal(build_number("12.34.56"), 123456);
}

/* What a callback that is inside uses stays until it has left. */
static void callbacks_are_waited_for(void **state)
{
	struct agent *a = fake_agent();

	(void)state;
	assert_true(agent_enter(a));
	assert_int_equal(a->users, 1);
	assert_false(wait_for_callbacks(a, 3 * NSEC_PER_MSEC));
	/* It looks often enough. */
	assert_true(fake_passed_ns < 100 * NSEC_PER_MSEC);
	a->active = 0;
	assert_false(agent_enter(a));
	assert_int_equal(a->users, 1);
	agent_leave(a);
	assert_true(wait_for_callbacks(a, 0));
	fake_drop(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_attached_agent_serves_until_it_is_stopped),
		cmocka_unit_test(the_thread_watches_the_lease),
		cmocka_unit_test(a_jvm_without_room_for_a_thread),
		cmocka_unit_test(an_agent_from_the_command_line_waits_for_the_jvm),
		cmocka_unit_test(jdk_8_reports_code_from_update_382_on),
		cmocka_unit_test(a_missing_capability_costs_only_its_own),
		cmocka_unit_test(options_are_whole_words),
		cmocka_unit_test(callbacks_are_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
