/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of symbols. Each is asked what an address is and answers in the same form: frames, innermost
 * first, and how sure it is. The list of all is in symbolize/sources.c.
 */
#ifndef HOSTPROF_SYMBOLIZE_SOURCE_H
#define HOSTPROF_SYMBOLIZE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

struct image;
struct mapping;
struct stack_build; /* symbolize/symbolizer_private.h */

/* Methods inlined into one place, and the one that they are in; more are cut off. */
#define ANSWER_MAX_FRAMES 128

/* From worst to best; from ANSWER_PLACE on there are frames. */
enum answer_sure {
	ANSWER_NONE,	/* the source does not know the address */
	ANSWER_WAIT,	/* it will know it: a file is being parsed. The last one to be asked */
	ANSWER_EVICTED, /* code was here, but is not any more, not yet, or one of two that fit */
	ANSWER_PLACE,	/* no name: only the file or the kind of memory that it lies in */
	ANSWER_RANGE,	/* what a table has at this address: of a file, a perf map, the kernel */
	ANSWER_TIMED,	/* what was at this address at the sample's time */
	ANSWER_PROVEN,	/* what carries the identity that the sample saw: a compile id, a class */
};

struct answer {
	enum answer_sure sure;
	bool of_moment;	  /* another time may have another answer: nothing is kept of it */
	bool of_code_map; /* and that only when an agent tells of a change */
	unsigned int count;
	/* Their kind tells the tier (interpreted, compiled, stub, native) and what was inlined. */
	struct profile_frame frames[ANSWER_MAX_FRAMES];
};

/* Kinds of words that are asked about, as bits. */
#define ASK_KERNEL	(1U << 0) /* an address of the kernel */
#define ASK_CODE	(1U << 1) /* a user address and no more */
#define ASK_COMPILED	(1U << 2) /* one in a JVM's code, with its compile id */
#define ASK_INTERPRETED (1U << 3) /* a method of a JVM */

struct symbol_query {
	unsigned int kind;     /* one of ASK_* */
	uint64_t address;      /* within the call for a return address */
	uint64_t key;	       /* equal queries of a process have equal keys */
	const uint64_t *words; /* of the sample; NULL for the kernel */
	/* What maps the address, by query_locate(). */
	bool located;
	struct mapping *mapping; /* borrowed; NULL: nothing does */
	struct image *image;	 /* borrowed; NULL: no file */
};

/*
 * Fills *ANSWER, which says ANSWER_NONE and no frames when it is called. Strings are put into the
 * profile of BUILD.
 */
typedef void symbol_find_fn(struct stack_build *build, struct symbol_query *query,
			    struct answer *answer);

struct symbol_source {
	const char *name;
	unsigned int kinds; /* ASK_* that it is asked for */
	bool proves;	    /* goes by an identity: asked even when another says ANSWER_EVICTED */
	bool keeps; /* what it answers is kept by the query's key, unless it is of the moment */
	symbol_find_fn *find;
};

/* In the order in which they are asked; one without a name is the end. */
extern const struct symbol_source symbol_sources[];

/* Append a frame to the answer; no more than there is room for. */
void answer_add(struct answer *answer, const struct profile_frame *frame);
/* One that is only a name. MAPPING: id or PROFILE_NONE. */
void answer_add_name(struct answer *answer, struct profile *profile, const char *name,
		     enum frame_kind kind, uint32_t mapping);

#endif
