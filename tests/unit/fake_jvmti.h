/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JVM as the agent sees it: tables of JVMTI, JNI and the invocation interface over methods and
 * threads that a test makes up. The agent's sources are compiled into the test. What JVMTI gives
 * out, and local references, are counted: a test ends with both at 0 (fake_check_balance()).
 */
#ifndef HOSTPROF_TESTS_FAKE_JVMTI_H
#define HOSTPROF_TESTS_FAKE_JVMTI_H

#include "fake_agent.h"
#include "fake_jni_table.h"
#include "fake_jvm_state.h"
#include "fake_jvmti_table.h"

static jint JNICALL fake_get_env(JavaVM *vm, void **ret_env, jint version)
{
	(void)vm;
	if (fake.asked)
		fake.asked();
	if (version == JVMTI_VERSION_1_2 && !fake.no_jvmti && ++fake.environments)
		*ret_env = &fake_jvmti;
	else if (version == JNI_VERSION_1_6 && !fake.no_jni)
		*ret_env = &fake_jni;
	else
		return JNI_EDETACHED;
	return JNI_OK;
}

static const struct JNIInvokeInterface_ fake_vm_table = { .GetEnv = fake_get_env };
static JavaVM fake_vm = &fake_vm_table;

static void *fake_run_thread(void *arg)
{
	(void)arg;
	fake_start.proc(&fake_jvmti, &fake_jni, fake_start.arg);
	return NULL;
}

/* A JVM with two methods and two threads, which can do all that is asked. */
static void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
	memset(&agent, 0, sizeof(agent));
	memset(&fake_hit, 0, sizeof(fake_hit));
	memset(&fake_lock, 0, sizeof(fake_lock));
	fake_passed_ns = 0;
	fake_heap_reset();
	fake_os_reset();
	fake.jvmti_version = JVMTI_VERSION_1_2 + (8 << JVMTI_VERSION_SHIFT_MAJOR);
	fake.methods[0] = (struct fake_method){
		"Lpkg/A;", "run", "([I)J", "A.java", { { 0, 10 }, { 4, 11 }, { 9, 14 } }, 3
	};
	fake.methods[1] = (struct fake_method){ "Lpkg/B;", "add", "()V", NULL, { { 0, 0 } }, 0 };
	fake.threads[0] = (struct fake_thread){ "main", 1, 0x7000 };
	fake.threads[1] = (struct fake_thread){ "worker-1", 23, 0x8000 };
	fake.thread_count = 2;
}

/* An agent with its memory, without a control thread: a test calls what that would do. */
static struct agent *fake_agent(void)
{
	fake_reset();
	agent.vm = &fake_vm;
	agent.pid = getpid();
	/* As an activation before may have left it. */
	memset(&agent.ring, 0xff, sizeof(agent.ring));
	memset(&agent.methods, 0xff, sizeof(agent.methods));
	assert_int_equal(open_memory(&agent), AGENT_OK);
	assert_int_equal(open_jvmti(&agent), AGENT_OK);
	/* Once around, every byte is an old one. */
	memset(agent.ring.data, 0xff, CODEMAP_RING_BYTES);
	threads_init(&agent, &fake_jni, (void *)&fake_class);
	agent.active = 1;
	return &agent;
}

/* As HotSpot answers GenerateEvents(). */
static void one_stub_and_one_method(jvmtiEvent event)
{
	if (event == JVMTI_EVENT_DYNAMIC_CODE_GENERATED)
		fake.callbacks.DynamicCodeGenerated(&fake_jvmti, "Interpreter", STUB, 4096);
	else if (event == JVMTI_EVENT_COMPILED_METHOD_LOAD)
		fake.callbacks.CompiledMethodLoad(&fake_jvmti, fake_id(0), 512, CODE, 0, NULL,
						  NULL);
}

static void assert_events(bool code, bool threads)
{
	assert_int_equal(fake.on[JVMTI_EVENT_COMPILED_METHOD_LOAD], code);
	assert_int_equal(fake.on[JVMTI_EVENT_COMPILED_METHOD_UNLOAD], code);
	assert_int_equal(fake.on[JVMTI_EVENT_DYNAMIC_CODE_GENERATED], code);
	assert_int_equal(fake.on[JVMTI_EVENT_THREAD_START], threads);
	assert_int_equal(fake.on[JVMTI_EVENT_THREAD_END], threads);
}

static void fake_check_balance(void)
{
	assert_int_equal(fake.allocated, 0);
	assert_int_equal(fake.references, 0);
	assert_int_equal(fake.frames, 0);
	assert_int_equal(fake_heap.weak, 0);
	assert_false(fake.exception);
}

static void fake_drop(struct agent *a)
{
	close_memory(a);
	fake_check_balance();
}

#endif
