/* SPDX-License-Identifier: Apache-2.0 */
/* What JVMs tell of themselves, as events: waits for locks, safepoints, compilations, loaded classes. */
#ifndef HOSTPROF_RECORDING_SAMPLES_WRITE_JVM_H
#define HOSTPROF_RECORDING_SAMPLES_WRITE_JVM_H

#include "profile/profile.h"
#include "recording/types.h"
#include "recording/write_pools.h"

/* The type of sample S, whose event has samples of TYPE, and perhaps of others. */
enum jfr_type_id jfr_jvm_type(enum jfr_type_id type, const struct profile *p,
			      const struct profile_sample *s);

/* Has a sample of TYPE the time of its end? An event has that of its begin. */
bool jfr_is_told_at_end(enum jfr_type_id type);

/* All of S behind the time, to AT; returns its end. */
uint8_t *jfr_put_jvm(uint8_t *at, enum jfr_type_id type, const struct jfr_pools *pools,
		     const struct profile *p, const struct profile_sample *s);

#endif
