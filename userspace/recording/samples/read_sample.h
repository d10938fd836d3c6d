/* SPDX-License-Identifier: Apache-2.0 */
/* An event becomes a sample of the profile: what is the same for all types. */
#ifndef HOSTPROF_RECORDING_SAMPLES_READ_SAMPLE_H
#define HOSTPROF_RECORDING_SAMPLES_READ_SAMPLE_H

#include "recording/read.h"

/* Slots of the fields. */
enum {
	SAMPLE_TIME,
	SAMPLE_THREAD,
	SAMPLE_STACK,
	SAMPLE_STATE,
	SAMPLE_WEIGHT,
	SAMPLE_COUNT,
	SAMPLE_KERNEL,
	SAMPLE_EVENT,
	SAMPLE_OBJECTS,
	SAMPLE_AGE,
	SAMPLE_CLASS_NAME,
	SAMPLE_OUTSIDE,
	SAMPLE_CLASS,
	SAMPLE_SIZE, /* of the object, where that is not the weight */
	SAMPLE_REASON,
	SAMPLE_QUEUED,
	SAMPLE_CHANCE,
	SAMPLE_SAMPLES, /* of others' wall clock */
	SAMPLE_IDENTITY,
	SAMPLE_COMPILE_ID,
	SAMPLE_WAKER,
	SAMPLE_WAKER_STACK,
	SAMPLE_OWNER,
	SAMPLE_SLOTS
};

/* The list of names ends with NULL. */
_Static_assert(SAMPLE_SLOTS < JFR_MAX_SLOTS, "slots of a sample");

/* How the events call their thread and their weight differs. */
#define SAMPLE_WANTED(thread, weight)                                                          \
	"startTime", thread, "stackTrace", "state", weight, "count", "kernel", "eventName",    \
		"objects", "age", "className", "outsideTlab", "objectClass", "allocationSize", \
		"reason", "queued", "chance", "samples", "address", "compileId", "waker",      \
		"wakerStackTrace", "owner"

/* Does somebody want the event NAME? */
bool jfr_is_wanted(const struct recording_reader *reader, const char *name);
struct profile_sample jfr_make_sample(struct recording_reader *reader, const struct jfr_values *v,
				      uint32_t found, uint32_t event);
/* One of the event NAME, in UNIT; false: nobody wants it. */
bool jfr_take_sample(struct recording_reader *reader, const struct jfr_values *v, uint32_t found,
		     const char *name, const char *unit, struct profile_sample *ret);
/* The class that the event names, a string; 0: none. */
uint32_t jfr_sample_class(struct recording_reader *reader, const struct jfr_values *v,
			  uint32_t found);
/* A class goes in front of the stack. */
void jfr_put_class(struct recording_reader *reader, struct profile_sample *s, uint32_t class_name,
		   bool outside);
void jfr_add_sample(struct recording_reader *reader, const struct profile_sample *s);
/* What was added and is not merged yet. */
void jfr_merge_samples(struct recording_reader *reader);

static inline bool jfr_has(uint32_t found, int slot)
{
	return found & 1u << slot;
}

/* S, whose weight is whole, with its reason and chance; what was queued is apart where samples are merged, by the reason QUEUED. */
void jfr_add_parts(struct recording_reader *reader, const struct jfr_values *v, const char *queued,
		   struct profile_sample *s);

#endif
