/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What naming one JVM's frames from outside may take of the event loop's time. Who shows other methods in each sample would take all
 * of it: a method that is not known costs some 60 us, and a stack may have 2,048 of them.
 */
#ifndef HOSTPROF_JVM_NAMES_NAME_TIME_H
#define HOSTPROF_JVM_NAMES_NAME_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* All zeros: nothing was taken yet. */
struct name_time {
	uint64_t taken_ns; /* and not paid back by the time that has passed */
	uint64_t at_ns;
};

/* So much at once, and of all time one part in SHARE. */
struct name_allowance {
	uint64_t most_ns, share;
};

/* May something be read, at NOW_NS? */
bool name_time_is_left(struct name_time *time, uint64_t now_ns);
bool name_time_is_left_of(struct name_time *time, const struct name_allowance *allowance,
			  uint64_t now_ns);
void name_time_take(struct name_time *time, uint64_t ns);

#endif
