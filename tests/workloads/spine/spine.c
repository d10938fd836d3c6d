// SPDX-License-Identifier: Apache-2.0
/*
 * The native links of the spine workload: Java → C → Java, C that works in libc, and a signal
 * handler on top of whatever the thread runs. Compiled with -O2 -fomit-frame-pointer.
 */
#include <jni.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
/* One that HotSpot does not use. */
#define SPINE_SIGNAL (SIGRTMIN + 7)

static jmethodID step_id;
static volatile unsigned char sink;

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	(void)reserved;
	JNIEnv *env;

	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK)
		return JNI_ERR;
	jclass step = (*env)->FindClass(env, "Step");

	if (step)
		step_id = (*env)->GetMethodID(env, step, "step", "(LPath;I)J");
	return step_id ? JNI_VERSION_1_6 : JNI_ERR;
}

NOINLINE static jlong spine_inner(JNIEnv *env, jobject next, jobject path, jint depth)
{
	jlong value = (*env)->CallLongMethod(env, next, step_id, path, depth);

	return value + depth;
}

/* A frame whose size depends on its argument. */
NOINLINE static jlong spine_outer(JNIEnv *env, jobject next, jobject path, jint depth)
{
	unsigned char room[(depth % 7) * 40 + 24];

	memset(room, depth, sizeof(room));
	sink += room[depth % 24];
	return spine_inner(env, next, path, depth) + room[depth % 24];
}

JNIEXPORT jlong JNICALL Java_Native_call(JNIEnv *env, jclass self, jobject next, jobject path,
					 jint depth)
{
	(void)self;
	return spine_outer(env, next, path, depth) ^ depth;
}

static int compare_bytes(const void *a, const void *b)
{
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

NOINLINE static unsigned spine_libc(unsigned seed)
{
	unsigned char bytes[120], copy[120];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (seed = seed * 1103515245 + 12345) >> 16;
	memmove(copy, bytes, sizeof(copy));
	qsort(copy, sizeof(copy), 1, compare_bytes);
	return copy[7] + (memcmp(copy, bytes, sizeof(copy)) > 0);
}

NOINLINE static unsigned spine_work(int rounds)
{
	unsigned sum = 0;

	for (int i = 0; i < rounds; i++)
		sum += spine_libc(sum + i);
	return sum;
}

JNIEXPORT jlong JNICALL Java_Native_work(JNIEnv *env, jclass self, jint rounds)
{
	(void)env;
	(void)self;
	return spine_work(rounds) + 1;
}

JNIEXPORT jlong JNICALL Java_Native_clock(JNIEnv *env, jclass self)
{
	(void)env;
	(void)self;
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void spine_on_signal(int number)
{
	sink += spine_work(100) + number;
}

JNIEXPORT void JNICALL Java_Native_interrupt(JNIEnv *env, jclass self, jint every_us)
{
	(void)env;
	(void)self;
	struct sigaction action = { .sa_handler = spine_on_signal, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SPINE_SIGNAL };
	struct itimerspec spec = { .it_interval.tv_nsec = every_us * 1000L,
				   .it_value.tv_nsec = every_us * 1000L };
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	sigaction(SPINE_SIGNAL, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
		timer_settime(timer, 0, &spec, NULL);
}
