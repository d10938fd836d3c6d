/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which methods the consumer knows: jmethodID -> the number under which its METHOD record was
 * published. Bounded; when it is full it is emptied, and methods get new numbers.
 *
 * A jmethodID that was once given out never means another method later: up to JDK 25 the memory
 * behind it is leaked on purpose (Method::clear_jmethod_ids in oops/method.cpp), from 26 on it is
 * a counter (oops/jmethodIDTable.cpp).
 */
#ifndef HOSTPROF_AGENT_METHODS_H
#define HOSTPROF_AGENT_METHODS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

struct agent;

struct method_table {
	struct method_slot *slots; /* owned mapping */
	uint32_t count;
	uint32_t epoch; /* grows whenever the table is emptied */
	uint64_t next_number;
};

/* 0 or -1. */
int method_table_open(struct method_table *table);
void method_table_close(struct method_table *table);
void method_table_clear(struct method_table *table);
uint32_t method_table_bytes(void);

/* The published number, or 0. */
uint64_t method_table_find(const struct method_table *table, jmethodID method);

/*
 * Publish METHOD's name and lines under a new number; takes the ring's lock. False when the ring
 * is full. A method that JVMTI does not name (its class is gone) is left without a number.
 */
bool method_publish(struct agent *a, JNIEnv *jni, jmethodID method);

#endif
