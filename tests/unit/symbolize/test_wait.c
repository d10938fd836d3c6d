// SPDX-License-Identifier: Apache-2.0
/* Why a thread waits, by its frames beside what the kernel knows. */
#include "test.h"

#include <string.h>

#include "profile/profile.h"
#include "symbolize/waits/wait.h"

#define MOST 64

static struct profile profile;
static uint32_t frames[MOST];
static uint32_t frame_count;

static void push(enum frame_kind kind, const char *class_name, const char *name)
{
	const struct profile_frame frame = { .kind = kind,
					     .class_name = profile_string(&profile, class_name),
					     .name = profile_string(&profile, name),
					     .mapping = PROFILE_NONE };

	frames[frame_count++] = profile_frame(&profile, &frame);
}

static void native(const char *name)
{
	push(FRAME_CPP, "", name);
}

static void java(const char *class_name, const char *name)
{
	push(FRAME_JAVA_JIT, class_name, name);
}

/* Of what was pushed, leaf first, below the kernel's frames. */
static const char *reason_of(enum wire_cause cause)
{
	uint32_t stack = profile_stack(&profile, frames, frame_count);

	frame_count = 0;
	push(FRAME_KERNEL, "", "schedule");
	push(FRAME_KERNEL, "", "futex_wait");
	return wait_reason(wait_cause(&profile, stack, cause));
}

/* The same of a virtual thread without its carrier, which has no kernel frames. */
static const char *unmounted_reason_of(enum wire_cause cause)
{
	uint32_t stack = profile_stack(&profile, frames, frame_count);

	frame_count = 0;
	return wait_reason(wait_unmounted_cause(&profile, stack, cause));
}

static int begin(void **state)
{
	(void)state;
	profile_init(&profile);
	frame_count = 0;
	reason_of(WIRE_CAUSE_FUTEX);
	return 0;
}

static int end(void **state)
{
	(void)state;
	profile_release(&profile);
	return 0;
}

static void parks_itself(void)
{
	java("jdk.internal.vm.Continuation", "yield");
	java("java.lang.VirtualThread", "yieldContinuation");
	java("java.lang.VirtualThread", "park");
}

/* It parks for all that it waits for: what called that knows. */
static void test_unmounted(void **state)
{
	(void)state;
	frame_count = 0;
	parks_itself();
	java("java.util.concurrent.locks.LockSupport", "park");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_PARK), "park");
	parks_itself();
	java("java.lang.VirtualThread", "sleepNanos");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_PARK), "sleep");
	java("java.lang.VirtualThread", "yieldContinuation");
	java("java.lang.VirtualThread", "tryYield");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_PARK), "run queue");
	/* Frames that are no Java's count for nothing, however many. */
	parks_itself();
	for (int i = 0; i < 30; i++)
		native("sun.nio.ch.NioSocketImpl.accept");
	java("sun.nio.ch.Poller", "poll");
	java("sun.nio.ch.NioSocketImpl", "implRead");
	java("sun.nio.ch.NioSocketImpl", "accept");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_PARK), "socket read");
	/* So far from its leaf the program's own frames begin. */
	for (int i = 0; i < 20; i++)
		java("p.C", "m");
	java("sun.nio.ch.NioSocketImpl", "implRead");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_PARK), "park");
	for (int i = 0; i < 19; i++)
		java("p.C", "m");
	java("sun.nio.ch.NioSocketImpl", "implRead");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_PARK), "socket read");
}

/* Of one that had left before anybody looked its frames tell how. */
static void test_unmounted_somehow(void **state)
{
	(void)state;
	frame_count = 0;
	parks_itself();
	java("java.util.concurrent.locks.LockSupport", "park");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_NONE), "park");
	parks_itself();
	java("java.lang.VirtualThread", "sleepNanos");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_NONE), "sleep");
	native("Continuation::prepare_thaw");
	java("p.C", "m");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_NONE), "monitor enter");
	java("java.lang.Object", "wait0");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_NONE), "Object.wait");
	/* Its frames are lost, or there are none: it parks. */
	native("Continuation::prepare_thaw");
	push(FRAME_MARK, "", "[frozen frames]");
	java("jdk.internal.vm.Continuation", "enterSpecial");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_NONE), "park");
	native("Continuation::prepare_thaw");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_NONE), "park");
	/* What is lost below is none of that. */
	java("p.C", "m");
	push(FRAME_MARK, "", "[frozen frames]");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_NONE), "monitor enter");
}

static void test_unmounted_for_a_monitor(void **state)
{
	(void)state;
	frame_count = 0;
	java("p.C", "m");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_MONITOR_ENTER), "monitor enter");
	java("java.lang.Object", "wait0");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_MONITOR_ENTER), "Object.wait");
	/* What parks has not asked for a monitor. */
	java("java.lang.Object", "wait0");
	assert_string_equal(unmounted_reason_of(WIRE_CAUSE_PARK), "park");
}

static void test_kernel_alone(void **state)
{
	(void)state;
	native("recv");
	assert_string_equal(reason_of(WIRE_CAUSE_SOCKET_READ), "socket read");
	native("syscall");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "futex");
	/* What the kernel is sure of no frame changes. */
	java("java.lang.Object", "wait");
	assert_string_equal(reason_of(WIRE_CAUSE_PIPE_READ), "pipe read");
	java("jdk.internal.misc.Unsafe", "park");
	assert_string_equal(reason_of(WIRE_CAUSE_RUN_QUEUE), "run queue");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "futex");
}

static void test_java(void **state)
{
	static const char *const cases[][3] = {
		{ "jdk.internal.misc.Unsafe", "park", "park" },
		{ "sun.misc.Unsafe", "park", "park" },
		{ "java.lang.Object", "wait", "Object.wait" },
		{ "java.lang.Object", "wait0", "Object.wait" },
		{ "java.lang.Thread", "sleep", "sleep" },
		{ "java.lang.Thread", "sleep0", "sleep" },
		{ "java.lang.Thread", "sleepNanos0", "sleep" },
		{ "my.Unsafe", "park", "futex" },
		{ "java.lang.Object", "waitFor", "futex" },
		{ "java.lang.ObjectX", "wait", "futex" },
		{ "java.lang.Objec", ".wait", "futex" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		native("__futex_abstimed_wait_common");
		native("[libjvm.so]");
		java(cases[i][0], cases[i][1]);
		java("app.Main", "run");
		assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), cases[i][2]);
	}
}

/* A frame of the JVM's own is nearer than the method that is called so, and says more. */
static void test_nearest(void **state)
{
	(void)state;
	native("PlatformEvent::park()");
	native("ObjectMonitor::enter(JavaThread*)");
	java("java.lang.Object", "wait");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "monitor enter");
	native("ObjectMonitor::enter_with_contention_mark(JavaThread*, ObjectMonitorContentionMark&)");
	java("app.Main", "run");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "monitor enter");
	native("ObjectMonitor::ReenterI(JavaThread*, ObjectWaiter*)");
	native("ObjectMonitor::wait(long, bool, JavaThread*)");
	java("java.lang.Object", "wait");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "monitor enter");
	native("ObjectMonitor::wait(long, bool, JavaThread*)");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "Object.wait");
	/* A name that only begins so is another one. */
	native("ObjectMonitor::waiters() const");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "futex");
	native("SafepointSynchronize::block(JavaThread*)");
	java("app.Main", "run");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "safepoint");
	native("Monitor::wait(unsigned long)");
	native("CompileQueue::get(CompilerThread*)");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "JVM");
	/* Whose lock it is is said above it. */
	native("Monitor::wait(unsigned long)");
	native("VMThread::execute(VM_Operation*)");
	native("G1CollectedHeap::do_collection_pause(unsigned long, unsigned int, bool*, GCCause::Cause)");
	java("app.Main", "run");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "GC");
	native("clock_nanosleep");
	native("os::naked_short_sleep(long)");
	native("SafepointSynchronize::begin()");
	assert_string_equal(reason_of(WIRE_CAUSE_SLEEP), "safepoint");
}

/* A method of the program is no wait because one far below it is. */
static void test_far_frames(void **state)
{
	(void)state;
	native("lock_of_a_library");
	java("app.Native", "call");
	java("app.A", "a");
	java("app.B", "b");
	java("java.lang.Object", "wait");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "futex");
	for (int i = 0; i < 30; i++)
		native("f");
	native("Parker::park(bool, long)");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "futex");
	/* Who sleeps waits for no lock that he has to do with. */
	native("Parker::park(bool, long)");
	assert_string_equal(reason_of(WIRE_CAUSE_SLEEP), "sleep");
}

static void test_locks_of_libraries(void **state)
{
	static const char *const cases[][2] = {
		{ "pthread_mutex_lock", "mutex" },
		{ "__pthread_mutex_timedlock", "mutex" },
		{ "pthread_rwlock_rdlock", "rwlock" },
		{ "pthread_cond_wait", "condition" },
		{ "__pthread_cond_timedwait", "condition" },
		{ "sem_wait", "semaphore" },
		{ "sem_waiting_room", "futex" },
		{ "pthread_barrier_wait", "barrier" },
		{ "__pthread_clockjoin_ex", "thread join" },
		{ "std::sys::sync::mutex::futex::Mutex::lock_contended", "mutex" },
		{ "parking_lot::raw_rwlock::RawRwLock::lock_shared_slow", "rwlock" },
		{ "take_gil", "GIL" },
		{ "my_pthread_mutex_lock", "futex" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		native("__futex_abstimed_wait_common");
		native(cases[i][0]);
		native("main");
		assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), cases[i][1]);
	}
}

/* What others build upon them says more, and what is built upon that nothing. */
static void test_what_locks_are_for(void **state)
{
	(void)state;
	native("pthread_cond_timedwait");
	native("[libjvm.so]");
	java("jdk.internal.misc.Unsafe", "park");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "park");
	native("pthread_cond_wait");
	native("Monitor::wait(unsigned long)");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "JVM");
	native("pthread_cond_wait");
	native("take_gil");
	native("pthread_mutex_lock");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "GIL");
	/* The nearest one of two that say as much. */
	native("pthread_mutex_lock");
	native("pthread_cond_wait");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "mutex");
	/* A library that Java has called. */
	native("pthread_mutex_lock");
	native("Java_app_Native_call");
	java("app.Native", "call");
	assert_string_equal(reason_of(WIRE_CAUSE_FUTEX), "mutex");
}

static void test_states(void **state)
{
	(void)state;
	assert_int_equal(wait_state(WIRE_STATE_RUNNING, true), STATE_RUNNING_USER);
	assert_int_equal(wait_state(WIRE_STATE_RUNNING, false), STATE_RUNNING_KERNEL);
	assert_int_equal(wait_state(WIRE_STATE_SLEEPING, false), STATE_SLEEPING);
	assert_int_equal(wait_state(WIRE_STATE_BLOCKED, false), STATE_BLOCKED);
	assert_int_equal(wait_state(WIRE_STATE_QUEUED, false), STATE_QUEUED);
	assert_int_equal(wait_state(WIRE_STATE_STOPPED, false), STATE_STOPPED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_unmounted, begin, end),
		cmocka_unit_test_setup_teardown(test_unmounted_for_a_monitor, begin, end),
		cmocka_unit_test_setup_teardown(test_unmounted_somehow, begin, end),
		cmocka_unit_test_setup_teardown(test_kernel_alone, begin, end),
		cmocka_unit_test_setup_teardown(test_java, begin, end),
		cmocka_unit_test_setup_teardown(test_nearest, begin, end),
		cmocka_unit_test_setup_teardown(test_locks_of_libraries, begin, end),
		cmocka_unit_test_setup_teardown(test_what_locks_are_for, begin, end),
		cmocka_unit_test_setup_teardown(test_far_frames, begin, end),
		cmocka_unit_test(test_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
