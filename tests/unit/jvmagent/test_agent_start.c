/* SPDX-License-Identifier: Apache-2.0 */
/* What an activation does when the kernel or the JVM refuses it something, and what it asks of them. */
#include "test.h"

#include <dirent.h>

#include "agent_records.h"

static int attach_with(const char *options)
{
	return Agent_OnAttach(&fake_vm, (char *)(uintptr_t)options, NULL);
}

static unsigned int open_files(void)
{
	unsigned int count = 0;
	DIR *dir = opendir("/proc/self/fd");

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void expect_nothing_left(unsigned int files)
{
	assert_int_equal(agent.active, 0);
	assert_int_equal(agent.control_alive, 0);
	assert_null(agent.ring.header);
	assert_int_equal(agent.ring.fd, -1);
	assert_null(agent.methods.slots);
	assert_int_equal(open_files(), files);
	fake_check_balance();
}

/* --- memory --- */

/* Each step of the way to its memory may fail; what was got before it is given back. */
static void a_kernel_without_memory(void **state)
{
	unsigned int files = open_files();

	(void)state;
	for (unsigned int step = 0; step < 5; step++) {
		fake_reset();
		fake_os.no_memfd = step == 0;
		fake_os.no_size = step == 1;
		fake_os.no_room = step == 2;
		fake_os.maps_left = step < 3 ? -1 : (int)step - 3;
		assert_int_equal(attach_with(NULL), AGENT_NO_MEMORY);
		expect_nothing_left(files);
		assert_int_equal(fake.environments, 0);
	}
	/* The next attempt finds all. */
	fake_os_reset();
	assert_int_equal(attach_with(NULL), AGENT_OK);
	assert_int_equal(attach_with("stop"), AGENT_OK);
	pthread_join(fake.control, NULL);
	expect_nothing_left(files);
}

/* Before 6.3 a flag of memfd_create() is not known; then it goes without. */
static void an_old_kernel(void **state)
{
	struct agent *a;

	(void)state;
	fake_reset();
	fake_os.old_memfd = true;
	assert_int_equal(open_memory(&agent), AGENT_OK);
	a = &agent;
	assert_int_equal(fcntl(a->ring.fd, F_GET_SEALS), F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW);
	close_memory(a);
}

/* A child that forks gets none of it, and a reader learns whose it is. */
static void what_children_and_readers_get(void **state)
{
	struct agent *a = fake_agent();

	(void)state;
	assert_int_equal(fake_os.not_forked, CODEMAP_HEADER_BYTES + CODEMAP_RING_BYTES);
	assert_int_equal(a->ring.header->agent_build, build_number(HOSTPROF_VERSION));
	fake_drop(a);
}

/* A start without room for the ring is as if there were no consumer. */
static void a_ring_without_room(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	codemap_reader_command(&r.reader, CODEMAP_COMMAND_START, BOTH);
	fake_os.no_room = true;
	carry_out(a, r.reader.seq);
	assert_events(false, false);
	assert_int_equal(a->ring.header->replays, 0);
	assert_int_equal(a->ring.header->done_seq, r.reader.seq);
	records_close(&r);
	fake_drop(a);
}

/* Where the kernel does not take pages back, the table is emptied all the same. */
static void a_table_is_emptied(void **state)
{
	struct agent *a = fake_agent();

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_true(method_publish(a, &fake_jni, fake_id(0)));
		assert_true(method_table_find(&a->methods, fake_id(0)) != 0);
		fake_os.no_madvise = i == 0;
		method_table_clear(&a->methods);
		assert_int_equal(method_table_find(&a->methods, fake_id(0)), 0);
		assert_int_equal(a->methods.count, 0);
	}
	fake_drop(a);
}

/* --- the JVM --- */

static void a_jvm_without_jvmti(void **state)
{
	unsigned int files = open_files();

	(void)state;
	fake_reset();
	fake.no_jvmti = true;
	assert_int_equal(attach_with(NULL), AGENT_NO_JVMTI);
	expect_nothing_left(files);
	assert_int_equal(Agent_OnLoad(&fake_vm, NULL, NULL), JNI_OK);
	expect_nothing_left(files);
	fake.no_jvmti = false;
	assert_int_equal(attach_with(NULL), AGENT_OK);
	assert_int_equal(attach_with("stop"), AGENT_OK);
	pthread_join(fake.control, NULL);
	/* The environment stays for the life of the JVM. */
	assert_ptr_equal(agent.jvmti, &fake_jvmti);
	assert_int_equal(attach_with(NULL), AGENT_OK);
	assert_int_equal(fake.environments, 1);
	assert_int_equal(attach_with("stop"), AGENT_OK);
	pthread_join(fake.control, NULL);
	expect_nothing_left(files);
}

/* What the JVM could give to the one before is no gift to the next. */
static void each_activation_asks_anew(void **state)
{
	(void)state;
	fake_reset();
	assert_int_equal(attach_with(NULL), AGENT_OK);
	assert_int_equal(agent.can, ALL);
	assert_int_equal(agent.pid, getpid());
	assert_int_equal(attach_with("stop"), AGENT_OK);
	pthread_join(fake.control, NULL);
	fake.refused.can_generate_compiled_method_load_events = 1;
	agent.events_on = BOTH;
	agent.pid = 0;
	assert_int_equal(attach_with(NULL), AGENT_OK);
	assert_int_equal(agent.can, ALL & ~CODEMAP_WANT_CODE);
	assert_int_equal(agent.events_on, 0);
	assert_int_equal(agent.pid, getpid());
	assert_int_equal(agent.stop, 0);
	assert_int_equal(attach_with("stop"), AGENT_OK);
	pthread_join(fake.control, NULL);
	fake_check_balance();
}

static int nested;

static void attach_again(void)
{
	fake.asked = NULL;
	nested = attach_with(NULL);
}

/* Two at a time would share what they make. */
static void two_attachers(void **state)
{
	(void)state;
	fake_reset();
	fake.asked = attach_again;
	nested = -1;
	assert_int_equal(attach_with(NULL), AGENT_OK);
	assert_int_equal(nested, AGENT_BUSY);
	assert_int_equal(fake.agent_threads, 1);
	assert_int_equal(attach_with("stop"), AGENT_OK);
	pthread_join(fake.control, NULL);
	fake_check_balance();
}

/* Loaded at the start without room for a thread: who attaches gives it one. */
static void a_thread_that_comes_later(void **state)
{
	(void)state;
	fake_reset();
	assert_int_equal(Agent_OnLoad(&fake_vm, NULL, NULL), JNI_OK);
	fake.no_agent_thread = true;
	fake.callbacks.VMInit(&fake_jvmti, &fake_jni, NULL);
	assert_int_equal(agent.control_alive, 0);
	assert_int_equal(attach_with(NULL), AGENT_NO_THREAD);
	assert_int_equal(agent.active, 1);
	fake.no_agent_thread = false;
	assert_int_equal(attach_with(NULL), AGENT_OK);
	assert_int_equal(fake.agent_threads, 1);
	assert_int_equal(attach_with("stop"), AGENT_OK);
	pthread_join(fake.control, NULL);
	fake_check_balance();
}

/* Each call on the way to a thread of its own may fail: no exception is left, and no thread begins. */
static void a_thread_that_cannot_be_made(void **state)
{
	static const enum fake_failure failures[] = { FAKE_FIND_CLASS, FAKE_NO_CLASS,
						      FAKE_GET_METHOD, FAKE_NEW_STRING,
						      FAKE_NO_STRING,  FAKE_NEW_OBJECT };

	unsigned int files = open_files();

	(void)state;
	fake_reset();
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		fake.fails = failures[i];
		assert_int_equal(attach_with(NULL), AGENT_NO_THREAD);
		assert_int_equal(fake.agent_threads, 0);
		expect_nothing_left(files);
	}
}

/* A group is a matter of taste: without one the thread runs in the group of who makes it. */
static void a_thread_without_a_group(void **state)
{
	static const enum fake_failure failures[] = { FAKE_TOP_GROUPS, FAKE_NO_GROUPS };

	(void)state;
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		fake_reset();
		fake.fails = failures[i];
		fake.group = (void *)&fake_groups[1];
		assert_int_equal(attach_with(NULL), AGENT_OK);
		assert_null(fake.group);
		assert_int_equal(attach_with("stop"), AGENT_OK);
		pthread_join(fake.control, NULL);
		fake_check_balance();
	}
}

/* --- threads of the program --- */

/* References are announced before they are made, and some more for what each takes. */
static void references_of_a_replay(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	threads_replay(a, &fake_jni);
	assert_int_equal(records_read(&r), 2);
	assert_true(fake.capacity >= 2 + 16);
	fake_check_balance();
	/* What cannot be announced is only -Xcheck:jni's complaint. */
	fake.fails = FAKE_CAPACITY;
	threads_replay(a, &fake_jni);
	assert_int_equal(records_read(&r), 2);
	fake_check_balance();
	fake.fails = FAKE_PUSH_FRAME;
	threads_replay(a, &fake_jni);
	assert_int_equal(records_read(&r), 0);
	fake_check_balance();
	fake.fails = FAKE_ALL_THREADS;
	threads_replay(a, &fake_jni);
	assert_int_equal(records_read(&r), 0);
	records_close(&r);
	fake_drop(a);
}

/* --- the end --- */

/* A callback that does not leave: 5 s, then all stays as it is; a later call goes on. */
static void an_end_that_has_to_wait(void **state)
{
	uint64_t begun;

	(void)state;
	fake_reset();
	assert_int_equal(attach_with(NULL), AGENT_OK);
	assert_true(agent_enter(&agent));
	begun = agent_now_ns();
	assert_int_equal(attach_with("stop"), AGENT_BUSY);
	assert_true(agent_now_ns() - begun >= 5 * NSEC_PER_SEC);
	assert_true(agent_now_ns() - begun < 30 * NSEC_PER_SEC);
	pthread_join(fake.control, NULL);
	assert_int_equal(agent.active, 0);
	assert_non_null(agent.ring.header);
	assert_false(agent.ring.header->closed_ns);
	/* Nor is a new one begun. */
	assert_int_equal(attach_with(NULL), AGENT_BUSY);
	agent_leave(&agent);
	assert_int_equal(attach_with("stop"), AGENT_OK);
	assert_null(agent.ring.header);
	/* Where nothing is, that is no failure. */
	assert_int_equal(attach_with("stop"), AGENT_OK);
	fake_check_balance();
}

/* A thread that does not end is not waited for longer than was said. */
static void a_thread_that_does_not_end(void **state)
{
	struct agent *a = fake_agent();
	uint32_t seq = a->ring.header->command_seq;

	(void)state;
	a->control_alive = 1;
	fake_os.futex_waits = 0;
	assert_false(control_stop(a, NSEC_PER_MSEC));
	assert_true(fake_os.futex_waits == 1 || fake_os.futex_waits == 2);
	assert_true(fake_os.longest_ns < NSEC_PER_SEC);
	assert_int_equal(a->stop, 1);
	assert_int_equal(a->ring.header->command_seq, seq + 1);
	assert_false(control_stop(a, 0));
	a->control_alive = 0;
	assert_true(control_stop(a, 0));
	fake_drop(a);
	/* Without memory there is no thread. */
	a->control_alive = 1;
	a->stop = 0;
	assert_true(control_stop(a, 0));
	assert_int_equal(a->stop, 1);
	a->control_alive = 0;
}

/* --- how it sleeps --- */

static bool wait_for(const uint32_t *word, uint32_t value)
{
	for (int i = 0; i < 5000 && __atomic_load_n(word, __ATOMIC_ACQUIRE) != value; i++)
		sleep_ns(1000000);
	return __atomic_load_n(word, __ATOMIC_ACQUIRE) == value;
}

/* Half a minute when nobody reads; with a reader far below a lease, so that its end is seen. */
static void a_thread_that_sleeps(void **state)
{
	struct records r;
	unsigned int waits;

	(void)state;
	fake_reset();
	assert_int_equal(attach_with(NULL), AGENT_OK);
	for (int i = 0; i < 5000 && !__atomic_load_n(&fake_os.futex_waits, __ATOMIC_SEQ_CST); i++)
		sleep_ns(1000000);
	assert_true(fake_os.shortest_ns == 30 * NSEC_PER_SEC);
	records_open(&r, &agent);
	waits = fake_os.futex_waits;
	codemap_reader_command(&r.reader, CODEMAP_COMMAND_START, BOTH);
	assert_true(wait_for(&agent.ring.header->done_seq, r.reader.seq));
	for (int i = 0; i < 5000 && fake_os.futex_waits == waits; i++)
		sleep_ns(1000000);
	assert_true(fake_os.shortest_ns >= NSEC_PER_MSEC * 100);
	assert_true(fake_os.shortest_ns <= CODEMAP_LEASE_NS);
	assert_int_equal(attach_with("stop"), AGENT_OK);
	pthread_join(fake.control, NULL);
	/* Seven records, two commands and an end: nobody spins. */
	assert_true(fake_os.futex_waits < 60);
	records_close(&r);
	fake_check_balance();
}

/* --- what it says --- */

/* What CALL writes to stderr. */
static const char *said_by(void (*call)(void))
{
	static char text[2048];
	int fd = memfd_create("hostprof-test", MFD_CLOEXEC), kept = dup(2);
	ssize_t n;

	fflush(stderr);
	dup2(fd, 2);
	call();
	fflush(stderr);
	dup2(kept, 2);
	close(kept);
	n = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

static const char *load_options;

static void load(void)
{
	assert_int_equal(Agent_OnLoad(&fake_vm, (char *)(uintptr_t)load_options, NULL), JNI_OK);
	assert_int_equal(agent_end(&agent), AGENT_OK);
}

static const char *said_of(const char *options)
{
	load_options = options;
	return said_by(load);
}

static void options_that_are_not_known(void **state)
{
	static const char *const quiet[] = { NULL, "", "start", "start,start", ",start,", "," };

	(void)state;
	fake_reset();
	for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++)
		assert_string_equal(said_of(quiet[i]), "");
	assert_string_equal(said_of("starts"),
			    "hostprof agent: option \"starts\" is not known, ignored\n");
	assert_string_equal(said_of("stare"),
			    "hostprof agent: option \"stare\" is not known, ignored\n");
	assert_string_equal(said_of("a=b,start,,x"),
			    "hostprof agent: option \"a=b\" is not known, ignored\n"
			    "hostprof agent: option \"x\" is not known, ignored\n");
}

static void why_it_does_not_work(void **state)
{
	(void)state;
	fake_reset();
	fake.jvmti_version = JVMTI_VERSION_1_2;
	fake.vm_version = "25.381-b09";
	assert_non_null(strstr(said_of(NULL), "cannot report its JIT code safely (JDK 8 needs "
					      "update 382)"));
	fake.vm_version = "25.382-b09";
	assert_string_equal(said_of(NULL), "");
	fake.no_jvmti = true;
	agent.jvmti = NULL;
	assert_string_equal(said_of(NULL), "hostprof agent: cannot start (2)\n");
	fake_check_balance();
}

/* --- methods --- */

/* A class that cannot be told gives no record, and nothing is left of the name. */
static void a_method_of_no_class(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	fake.fails = FAKE_DECLARING_CLASS;
	assert_true(method_publish(a, &fake_jni, fake_id(0)));
	assert_int_equal(records_read(&r), 0);
	assert_int_equal(method_table_find(&a->methods, fake_id(0)), 0);
	records_close(&r);
	fake_drop(a);
}

/* It is asked for once: its code comes without a name. */
static void code_of_a_method_of_no_class(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	fake.fails = FAKE_DECLARING_CLASS;
	fake.callbacks.CompiledMethodLoad(&fake_jvmti, fake_id(0), 512, CODE, 0, NULL, NULL);
	assert_int_equal(records_read(&r), 1);
	assert_int_equal(records_one(&r, CODEMAP_LOAD)->event.load.method, 0);
	records_close(&r);
	fake_drop(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_without_memory),
		cmocka_unit_test(an_old_kernel),
		cmocka_unit_test(what_children_and_readers_get),
		cmocka_unit_test(a_ring_without_room),
		cmocka_unit_test(a_table_is_emptied),
		cmocka_unit_test(a_jvm_without_jvmti),
		cmocka_unit_test(each_activation_asks_anew),
		cmocka_unit_test(two_attachers),
		cmocka_unit_test(a_thread_that_comes_later),
		cmocka_unit_test(a_thread_that_cannot_be_made),
		cmocka_unit_test(a_thread_without_a_group),
		cmocka_unit_test(references_of_a_replay),
		cmocka_unit_test(an_end_that_has_to_wait),
		cmocka_unit_test(a_thread_that_does_not_end),
		cmocka_unit_test(a_thread_that_sleeps),
		cmocka_unit_test(options_that_are_not_known),
		cmocka_unit_test(why_it_does_not_work),
		cmocka_unit_test(a_method_of_no_class),
		cmocka_unit_test(code_of_a_method_of_no_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
