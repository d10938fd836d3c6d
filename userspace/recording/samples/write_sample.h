/* SPDX-License-Identifier: Apache-2.0 */
/* What events of all types say of a sample. */
#ifndef HOSTPROF_RECORDING_SAMPLES_WRITE_SAMPLE_H
#define HOSTPROF_RECORDING_SAMPLES_WRITE_SAMPLE_H

#include "profile/profile.h"
#include "recording/write_pools.h"

struct jfr_labels {
	uint64_t pid, name, container;
};

/* Of a thread; PROFILE_NONE: all 0. */
struct jfr_labels jfr_thread_labels(const struct jfr_pools *pools, const struct profile *p,
				    uint32_t thread);
struct jfr_labels jfr_sample_labels(const struct jfr_pools *pools, const struct profile *p,
				    const struct profile_sample *s);
uint8_t jfr_state_key(uint32_t state);
/* LABEL_FIELDS of types.c. */
uint8_t *jfr_put_labels(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
			const struct profile_sample *s);
/* Of the class that STACK has in front; 0: none. */
uint64_t jfr_object_class_key(const struct jfr_pools *pools, const struct profile *p,
			      uint32_t stack);
/* WAKER_FIELDS of types.c, where the profile has them. */
uint8_t *jfr_put_waker(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
		       const struct profile_sample *s);

#endif
