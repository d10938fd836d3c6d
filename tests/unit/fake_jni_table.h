/* SPDX-License-Identifier: Apache-2.0 */
/* JNI of a JVM that is made up. Included by fake_jvmti.h. */
#ifndef HOSTPROF_TESTS_FAKE_JNI_TABLE_H
#define HOSTPROF_TESTS_FAKE_JNI_TABLE_H

#include "fake_jvm_state.h"

static jboolean JNICALL fake_exception_check(JNIEnv *jni)
{
	(void)jni;
	return fake.exception;
}

static void JNICALL fake_exception_clear(JNIEnv *jni)
{
	(void)jni;
	fake.exception = false;
}

static bool fake_throws(enum fake_failure failure)
{
	fake.exception |= fake.fails == failure;
	return fake.fails == failure;
}

static void JNICALL fake_delete_reference(JNIEnv *jni, jobject object)
{
	(void)jni;
	if (object)
		__atomic_fetch_sub(&fake.references, 1, __ATOMIC_SEQ_CST);
}

static jclass JNICALL fake_find_class(JNIEnv *jni, const char *name)
{
	(void)jni;
	if (fake_throws(FAKE_FIND_CLASS) || fake.fails == FAKE_NO_CLASS)
		return NULL;
	return strcmp(name, "java/lang/Thread") ? NULL : fake_reference(&fake_class);
}

static jfieldID JNICALL fake_field(JNIEnv *jni, jclass class, const char *name, const char *type)
{
	(void)jni, (void)class;
	if (!strcmp(type, "J") && !strcmp(name, "tid"))
		return (void *)&fake_field_tid;
	if (!strcmp(type, "J") && !strcmp(name, "eetop"))
		return (void *)&fake_field_eetop;
	fake.exception = true;
	return NULL;
}

static jmethodID JNICALL fake_method(JNIEnv *jni, jclass class, const char *name, const char *type)
{
	(void)jni, (void)class, (void)name, (void)type;
	return fake_throws(FAKE_GET_METHOD) ? NULL : fake_id(0);
}

static jstring JNICALL fake_string(JNIEnv *jni, const char *text)
{
	(void)jni;
	if (fake_throws(FAKE_NEW_STRING) || fake.fails == FAKE_NO_STRING)
		return NULL;
	return fake_reference(*text ? (void *)&fake_class : fake_canary());
}

static jobject JNICALL fake_new_object(JNIEnv *jni, jclass class, jmethodID method, ...)
{
	va_list ap;

	(void)jni, (void)class;
	assert_false(fake.exception); /* nothing may be called then */
	if (fake_throws(FAKE_NEW_OBJECT))
		return NULL;
	va_start(ap, method);
	fake.group = va_arg(ap, jthreadGroup);
	va_end(ap);
	return fake_reference(&fake_agent_thread);
}

static jlong JNICALL fake_long(JNIEnv *jni, jobject object, jfieldID field)
{
	const struct fake_thread *t = (void *)object;

	(void)jni;
	return (void *)field == &fake_field_tid ? t->tid : t->eetop;
}

static jint JNICALL fake_capacity(JNIEnv *jni, jint count)
{
	(void)jni;
	fake.capacity = count;
	return fake_throws(FAKE_CAPACITY) ? JNI_ENOMEM : 0;
}

static jint JNICALL fake_push(JNIEnv *jni, jint count)
{
	(void)jni;
	assert_true(count >= 16);
	if (fake_throws(FAKE_PUSH_FRAME))
		return JNI_ENOMEM;
	fake.frames++;
	return 0;
}

static jobject JNICALL fake_pop(JNIEnv *jni, jobject object)
{
	(void)jni;
	fake.frames--;
	return object;
}

/* An object is its class. */
static jclass JNICALL fake_object_class(JNIEnv *jni, jobject object)
{
	(void)jni;
	return fake_reference(object);
}

static const struct JNINativeInterface_ fake_jni_table = {
	.GetObjectClass = fake_object_class,
	.FindClass = fake_find_class,
	.ExceptionClear = fake_exception_clear,
	.PushLocalFrame = fake_push,
	.PopLocalFrame = fake_pop,
	.DeleteLocalRef = fake_delete_reference,
	.EnsureLocalCapacity = fake_capacity,
	.NewObject = fake_new_object,
	.GetMethodID = fake_method,
	.GetFieldID = fake_field,
	.GetLongField = fake_long,
	.NewStringUTF = fake_string,
	.ExceptionCheck = fake_exception_check,
	.NewWeakGlobalRef = fake_new_weak,
	.DeleteWeakGlobalRef = fake_delete_weak,
	.IsSameObject = fake_is_same,
};
static JNIEnv fake_jni = &fake_jni_table;

#endif
