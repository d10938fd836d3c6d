/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's one thread: a daemon of the JVM that sleeps on the consumer's futex word, carries
 * out its commands, replays what exists, and turns the events off when the lease has lapsed.
 */
#include "agent.h"
#include "futex.h"
#include "threads.h"

/* With no consumer there is nothing to watch; the futex wakes us. */
#define CONTROL_IDLE_NS 30000000000ULL
/* With one: lease of 3 s and this stay far below the promised 10 s. */
#define CONTROL_WATCH_NS 1000000000ULL
/* A consumer that drains nothing for this long is not waited for any further. */
#define CONTROL_ROOM_NS	     2000000000ULL
#define CONTROL_ROOM_STEP_NS 500000ULL
/* So much of the ring is kept for live events during a replay. */
#define CONTROL_LIVE_SPARE (CODEMAP_RING_BYTES / 4)
#define CONTROL_SETTLE_NS  50000000ULL

bool agent_is_replaying(const struct agent *a)
{
	uint32_t tid = __atomic_load_n(&a->replay_tid, __ATOMIC_RELAXED);

	return tid && tid == agent_gettid();
}

static bool replay_may_wait(const struct agent *a)
{
	return !a->replay_given_up && __atomic_load_n(&a->active, __ATOMIC_RELAXED) &&
	       !__atomic_load_n(&a->stop, __ATOMIC_RELAXED) &&
	       ring_has_consumer(&a->ring, agent_now_ns());
}

static void sleep_ns(uint64_t ns)
{
	struct timespec ts = { 0, (long)ns };

	nanosleep(&ts, NULL);
}

static struct codemap_record *reserve_waiting(struct agent *a, uint16_t kind, uint32_t size,
					      uint64_t time_ns)
{
	uint64_t until = agent_now_ns() + CONTROL_ROOM_NS;
	struct codemap_record *record;

	while (replay_may_wait(a)) {
		record = ring_reserve(&a->ring, kind, size, time_ns, CONTROL_LIVE_SPARE);
		if (record)
			return record;
		if (agent_now_ns() > until)
			break;
		sleep_ns(CONTROL_ROOM_STEP_NS);
	}
	a->replay_given_up = true;
	return NULL;
}

struct codemap_record *agent_reserve(struct agent *a, uint16_t kind, uint32_t size,
				     uint64_t time_ns)
{
	struct codemap_record *record;

	if (agent_is_replaying(a))
		record = reserve_waiting(a, kind, size, time_ns);
	else
		record = ring_reserve(&a->ring, kind, size, time_ns, 0);
	if (!record)
		ring_drop(&a->ring, time_ns);
	return record;
}

static void publish_mark(struct agent *a, uint16_t kind)
{
	struct codemap_record *r = agent_reserve(a, kind, sizeof(*r), agent_now_ns());

	if (r)
		ring_commit(&a->ring, r);
}

static void forget_methods(struct agent *a)
{
	pthread_mutex_lock(&a->ring.lock);
	method_table_clear(&a->methods);
	pthread_mutex_unlock(&a->ring.lock);
}

static void replay(struct agent *a, uint32_t want)
{
	jvmtiEnv *jvmti = a->jvmti;

	forget_methods(a);
	a->replay_given_up = false;
	__atomic_store_n(&a->replay_tid, agent_gettid(), __ATOMIC_RELAXED);
	publish_mark(a, CODEMAP_REPLAY_BEGIN);
	if (want & CODEMAP_WANT_CODE) {
		(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
		(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
	}
	if (want & CODEMAP_WANT_THREADS)
		threads_replay(a, agent_jni(a));
	publish_mark(a, CODEMAP_REPLAY_END);
	__atomic_store_n(&a->replay_tid, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&a->ring.header->replays, 1, __ATOMIC_RELAXED);
}

/* Its records wait for room like those of a replay. */
static void report_live(struct agent *a, uint32_t seq, bool collect)
{
	a->replay_given_up = false;
	__atomic_store_n(&a->replay_tid, agent_gettid(), __ATOMIC_RELAXED);
	live_report(a, seq, collect);
	__atomic_store_n(&a->replay_tid, 0, __ATOMIC_RELAXED);
}

static void carry_out(struct agent *a, uint32_t seq)
{
	struct codemap_header *h = a->ring.header;
	uint32_t command = __atomic_load_n(&h->command, __ATOMIC_ACQUIRE);
	uint32_t want = __atomic_load_n(&h->want, __ATOMIC_ACQUIRE) & a->can;

	if (command == CODEMAP_COMMAND_START && ring_has_consumer(&a->ring, agent_now_ns()) &&
	    ring_allocate(&a->ring)) {
		if (want & CODEMAP_WANT_ALLOC)
			alloc_begin(a, __atomic_load_n(&h->alloc_wanted, __ATOMIC_ACQUIRE));
		if (want & CODEMAP_WANT_LIVE)
			live_begin(a);
		if (want & CODEMAP_WANT_LOCKS)
			locks_begin(a, __atomic_load_n(&h->lock_least_ns, __ATOMIC_ACQUIRE));
		agent_switch_events(a, want);
		replay(a, want);
	} else if (command == CODEMAP_COMMAND_LIVE || command == CODEMAP_COMMAND_LIVE_COLLECT) {
		report_live(a, seq, command == CODEMAP_COMMAND_LIVE_COLLECT);
	} else {
		agent_switch_events(a, 0);
		forget_methods(a);
	}
	__atomic_store_n(&h->done_seq, seq, __ATOMIC_RELEASE);
}

static void watch_lease(struct agent *a)
{
	if (!a->events_on)
		return;
	if (!ring_has_consumer(&a->ring, agent_now_ns())) {
		agent_switch_events(a, 0);
		forget_methods(a);
	} else {
		ring_announce_gap(&a->ring);
		alloc_watch(a);
		locks_watch(a);
		live_watch(a);
	}
}

static void control_loop(struct agent *a)
{
	struct codemap_header *h = a->ring.header;
	uint32_t done = 0;

	while (!__atomic_load_n(&a->stop, __ATOMIC_ACQUIRE)) {
		uint32_t seq = __atomic_load_n(&h->command_seq, __ATOMIC_ACQUIRE);

		if (seq != done) {
			carry_out(a, seq);
			done = seq;
			continue;
		}
		watch_lease(a);
		futex_wait(&h->command_seq, seq, a->events_on ? CONTROL_WATCH_NS : CONTROL_IDLE_NS);
	}
}

static void JNICALL control_main(jvmtiEnv *jvmti, JNIEnv *jni, void *arg)
{
	struct agent *a = arg;

	(void)jvmti, (void)jni;
	control_loop(a);
	__atomic_store_n(&a->control_alive, 0, __ATOMIC_RELEASE);
	futex_wake(&a->control_alive);
}

/* The JVM's topmost group ("system"), so that the thread does not show up in the application's. */
static jthreadGroup top_group(struct agent *a, JNIEnv *jni)
{
	jvmtiEnv *jvmti = a->jvmti;
	jthreadGroup *groups = NULL;
	jthreadGroup top = NULL;
	jint count = 0;

	if ((*jvmti)->GetTopThreadGroups(jvmti, &count, &groups) || !groups)
		return NULL;
	if (count > 0)
		top = groups[0];
	for (jint i = 1; i < count; i++)
		(*jni)->DeleteLocalRef(jni, groups[i]);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)groups);
	return top;
}

static jthread new_thread(struct agent *a, JNIEnv *jni, jclass class)
{
	jthreadGroup group;
	jthread thread = NULL;
	jmethodID init;
	jstring name;

	threads_init(a, jni, class);
	init = (*jni)->GetMethodID(jni, class, "<init>",
				   "(Ljava/lang/ThreadGroup;Ljava/lang/String;)V");
	if (agent_clear_exception(jni))
		return NULL;
	group = top_group(a, jni);
	name = (*jni)->NewStringUTF(jni, "hostprof agent");
	if (!agent_clear_exception(jni) && name)
		thread = (*jni)->NewObject(jni, class, init, group, name);
	if (agent_clear_exception(jni))
		thread = NULL;
	(*jni)->DeleteLocalRef(jni, name);
	(*jni)->DeleteLocalRef(jni, group);
	return thread;
}

static bool run_thread(struct agent *a, JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
	jthread thread;
	bool runs;

	if (agent_clear_exception(jni) || !class)
		return false;
	thread = new_thread(a, jni, class);
	runs = thread && !(*a->jvmti)->RunAgentThread(a->jvmti, thread, control_main, a,
						      JVMTI_THREAD_NORM_PRIORITY);
	(*jni)->DeleteLocalRef(jni, thread);
	(*jni)->DeleteLocalRef(jni, class);
	return runs;
}

int control_start(struct agent *a, JNIEnv *jni)
{
	if (__atomic_exchange_n(&a->control_alive, 1, __ATOMIC_SEQ_CST))
		return 0;
	if (run_thread(a, jni))
		return 0;
	__atomic_store_n(&a->control_alive, 0, __ATOMIC_SEQ_CST);
	return -1;
}

bool control_stop(struct agent *a, uint64_t timeout_ns)
{
	uint64_t until = agent_now_ns() + timeout_ns;

	__atomic_store_n(&a->stop, 1, __ATOMIC_SEQ_CST);
	if (!a->ring.header)
		return true;
	/* A change of the word closes the window between its check and its sleep. */
	__atomic_fetch_add(&a->ring.header->command_seq, 1, __ATOMIC_SEQ_CST);
	futex_wake(&a->ring.header->command_seq);
	while (__atomic_load_n(&a->control_alive, __ATOMIC_ACQUIRE)) {
		if (agent_now_ns() >= until)
			return false;
		futex_wait(&a->control_alive, 1, CONTROL_SETTLE_NS);
	}
	return true;
}
