/* SPDX-License-Identifier: Apache-2.0 */
/* The state of reading one recording, shared by the reader's files. */
#ifndef HOSTPROF_RECORDING_READ_H
#define HOSTPROF_RECORDING_READ_H

#include "recording/read_keymap.h"
#include "recording/read_metadata.h"
#include "recording/recording.h"

/* In the order in which they are resolved: a pool refers to those before it. */
enum jfr_pool_id {
	JFR_POOL_STRING,
	JFR_POOL_SYMBOL,
	JFR_POOL_CLASS,
	JFR_POOL_METHOD,
	JFR_POOL_FRAME_TYPE,
	JFR_POOL_STATE,
	JFR_POOL_KIND,
	JFR_POOL_EVENT,
	JFR_POOL_MAPPING,
	JFR_POOL_PROCESS,
	JFR_POOL_THREAD,
	JFR_POOL_LOCATION,
	JFR_POOL_STACK,
	JFR_POOL_IDS
};

/* Entries of one pool in one checkpoint. */
struct jfr_segment {
	enum jfr_pool_id pool;
	uint32_t type;	/* index in the schema */
	uint64_t count; /* not believed */
	struct jfr_cursor entries;
};

/* A symbol or string of a pool; decoded when it is used for the first time. */
struct jfr_pool_text {
	struct jfr_text text;
	uint32_t string; /* of the profile, PROFILE_NONE: not yet */
};

struct jfr_method_names {
	uint32_t class_name, name, descriptor; /* strings of the profile; the class dotted */
};

struct recording_reader {
	struct profile *profile;
	const struct recording_read_options *options;

	/* The chunk. */
	struct jfr_cursor events; /* sizes have been checked */
	struct read_metadata schema;
	uint64_t start_wall_ns, start_ticks, ticks_per_second;
	bool ours;	   /* written by hostprof: the model lies beside JFR's fields */
	bool native_types; /* "Native" is C, not a Java method that is native */
	VEC(struct jfr_segment) segments;
	struct jfr_keymap pools[JFR_POOL_IDS];
	VEC(struct jfr_pool_text) texts;
	VEC(struct jfr_method_names) methods;
	uint32_t cpu_event;  /* PROFILE_NONE until met */
	uint32_t no_thread;  /* for samples without one; PROFILE_NONE until needed */
	uint32_t no_process; /* for threads without one; the same */

	/* Of the whole recording. */
	struct hmap events_by_name; /* string to event */
	struct hmap
		class_stacks; /* frame of a class, or of a reason, or a waker, and stack below it to the stack of both */

	/* Scratch. */
	struct strbuf text;
	VEC(uint32_t) frames;
	struct profile_sample batch[PROFILE_BATCH]; /* not merged yet */
	size_t batch_len;
};

/* Find the pools of a checkpoint, which begins behind its size and type. */
int read_index_checkpoint(struct recording_reader *reader, struct jfr_cursor body);

/* Bring all pools that were found into the profile. */
int jfr_read_pools(struct recording_reader *reader);

/* Read the samples and figures. */
int jfr_read_events(struct recording_reader *reader);

/* The string of the profile for a symbol's key or for a text; 0 when there is none. */
uint32_t jfr_symbol_string(struct recording_reader *reader, uint64_t key);
uint32_t jfr_text_string(struct recording_reader *reader, const struct jfr_text *text);

/* Telling the name of an event kind. */
void jfr_name_event(struct recording_reader *reader, uint32_t event);
/* An event kind by its name, made with UNIT when it is new. */
uint32_t jfr_event_by_name(struct recording_reader *reader, uint32_t name, const char *unit);

/* What is made of an event; V: the fields that its type's row wants, FOUND: a bit for each that it has. */
typedef void jfr_add_fn(struct recording_reader *reader, const struct jfr_values *v,
			uint32_t found);

/* read.c: hostprof.Recording, hostprof.Quality, hostprof.Counter. */
jfr_add_fn jfr_add_recording, jfr_add_quality, jfr_add_counter;

/* Has the chunk an event of that type? */
bool jfr_has_event(struct recording_reader *reader, const char *name);

/* The process, and the thread, of what has none. */
uint32_t jfr_no_process(struct recording_reader *reader);
uint32_t jfr_no_thread(struct recording_reader *reader);

/* Reads one stack behind its key; returns its id in the profile. */
uint32_t jfr_read_stack(struct recording_reader *reader, const struct read_layout *stack,
			const struct read_layout *frame, struct jfr_cursor *c);

/* The stack of the profile that has the frame of CLASS_NAME (a string) in front of STACK. */
uint32_t jfr_stack_with_class(struct recording_reader *reader, uint32_t stack, uint32_t class_name,
			      enum frame_kind kind);

/* The same with a frame that is only a name, in brackets: why the thread waited. */
uint32_t jfr_stack_with_reason(struct recording_reader *reader, uint32_t stack, uint32_t reason);

/* Likewise: who had the lock, a thread of the profile. */
uint32_t jfr_stack_with_owner(struct recording_reader *reader, uint32_t stack, uint32_t thread);

/* Who has ended a wait, by the keys of the two pools: an id of the profile; 0: nobody is told of. */
uint32_t jfr_waker(struct recording_reader *reader, uint64_t thread_key, uint64_t stack_key);

/*
 * The same with WAKER's (an id of the profile; 0, or where nobody wants them: none) frames, nearest to STACK the mark "[woken by]", then its leaf, and so on to its
 * root, its thread and its process, which is the leaf of all; an interrupt's end in "[interrupt]".
 */
uint32_t jfr_stack_with_waker(struct recording_reader *reader, uint32_t stack, uint32_t waker);

/*
 * A wait as views have it: the reason is the leaf, or its waker is behind that; what the thread waited for a cpu, when it was woken, is apart, with the reason QUEUED, of
 * the same wait, which counts once. How many parts there are.
 */
size_t jfr_wait_parts(struct recording_reader *reader, const struct profile_sample *s,
		      const char *queued, struct profile_sample ret_parts[2]);

/* The wanted fields of a stack and of its frames. */
extern const char *const jfr_stack_fields[];
extern const char *const jfr_frame_fields[];

#endif
