/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of one nmethod's places, named when they are first asked for and remembered. */
#ifndef HOSTPROF_JVM_NAMES_CHAIN_NAMES_H
#define HOSTPROF_JVM_NAMES_CHAIN_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/cache/text_pool.h"
#include "base/vec.h"
#include "jvm/java_frame.h"
#include "jvm/names/code_scopes.h"
#include "jvm/names/method_name.h"

/* A frame that was asked for; its texts are the pool's. */
struct chain_name {
	const char *class_name, *method, *source, *descriptor;
	uint32_t node; /* CODE_NO_NODE: the nmethod's own method, at no bytecode */
	int32_t line, bci;
	uint32_t caller; /* of the node */
};

struct chain_names {
	uint64_t method;	    /* Method* of the nmethod */
	struct code_scopes *scopes; /* owned; NULL: there are none */
	struct chain_name *names;   /* owned; few, so that there is no room for more than `count` */
	uint32_t count;
	/* Why its own method has no name, or an inlined one has none yet. Who reads sets it to 0 before. */
	int error;
};

/* SCOPES are owned from here on; those that do not end with METHOD are not its. */
void chain_names_init(struct chain_names *chain, uint64_t method, struct code_scopes *scopes);
void chain_names_release(struct chain_names *chain, struct text_pool *texts);
size_t chain_names_bytes(const struct chain_names *chain);

/*
 * Frames at ADDRESS, innermost first, at most JAVA_MAX_INLINE, when all of them are known; their number, or
 * 0. Strings are borrowed as long as CHAIN.
 */
unsigned int chain_names_find(const struct chain_names *chain, uint64_t address,
			      struct java_frame *frames);

/* Are they all known? */
bool chain_names_has(const struct chain_names *chain, uint64_t address);

/* The nmethod's own method, at no bytecode; 1, or 0 when it was not read. */
unsigned int chain_names_own(const struct chain_names *chain, struct java_frame *frame);

/* A frame that has no name yet. */
struct chain_place {
	struct chain_names *chain;
	uint32_t node;
};

/* Those of many chains. */
struct chain_wants {
	VEC(struct chain_place) places;
	VEC(struct method_place) methods; /* of each */
};

void chain_wants_release(struct chain_wants *wants);

/* Ask for the names that chain_names_find() lacks, and for its own method's. CHAIN stays where it is until they are read. */
void chain_names_want(struct chain_names *chain, uint64_t address, struct chain_wants *wants);

/*
 * Read all that are wanted; what cannot be read stays without a name. The caller must know by other means that the nmethods were
 * themselves before this and after it; if one was not after it, chain_names_drop() takes back what came after the first KEPT
 * (chain->count before).
 */
void chain_wants_read(const struct chain_wants *wants, struct method_names *methods,
		      struct text_pool *texts);
void chain_names_drop(struct chain_names *chain, uint32_t kept, struct text_pool *texts);

#endif
