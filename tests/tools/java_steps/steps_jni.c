// SPDX-License-Identifier: Apache-2.0
/*
 * The C part of tests/workloads/Steps.java: between through() and back() lie two C frames without
 * frame pointers and of odd sizes. SIGUSR2 has a handler that takes some instructions.
 */
#include <jni.h>
#include <signal.h>
#include <string.h>

#define KEEP __attribute__((noinline, noclone))

static volatile unsigned int handled;

KEEP static unsigned int steps_handle(unsigned int n)
{
	volatile unsigned int bytes[13];

	for (unsigned int i = 0; i < 4; i++)
		bytes[i] = n + i;
	return bytes[n & 3];
}

static void on_signal(int number)
{
	handled += steps_handle((unsigned int)number);
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK };

	(void)vm;
	(void)reserved;
	sigaction(SIGUSR2, &action, NULL);
	return JNI_VERSION_1_8;
}

KEEP static jlong steps_call(JNIEnv *env, jclass class, jmethodID method, jint kind, jlong x)
{
	volatile char odd[37];
	jlong result;

	odd[kind & 31] = (char)x;
	result = (*env)->CallStaticLongMethod(env, class, method, kind, x);
	return result + odd[kind & 31];
}

JNIEXPORT jlong JNICALL Java_Steps_through(JNIEnv *env, jclass class, jint kind, jlong x)
{
	static jmethodID method;

	if (!method)
		method = (*env)->GetStaticMethodID(env, class, "back", "(IJ)J");
	return method ? steps_call(env, class, method, kind, x) + 1 : 0;
}

KEEP static jlong steps_loop(jlong x)
{
	volatile jlong sum = x;

	for (int i = 0; i < 5; i++)
		sum = sum * 31 + i;
	return sum;
}

JNIEXPORT jlong JNICALL Java_Steps_inC(JNIEnv *env, jclass class, jlong x)
{
	(void)env;
	(void)class;
	return steps_loop(x) + 1;
}

JNIEXPORT jlong JNICALL Java_Steps_manyInC(JNIEnv *env, jclass class, jlong a, jdouble b, jlong c,
					   jobject d, jint e, jlong f, jfloat g, jlong h, jlong i)
{
	(void)env;
	(void)class;
	return steps_loop(a + (jlong)b + c + e + f + (jlong)g + h + i) + (d != NULL);
}
