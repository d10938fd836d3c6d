/* SPDX-License-Identifier: Apache-2.0 */
/* One piece of generated code during its life: an nmethod with its inlining, or a stub. */
#ifndef HOSTPROF_JVM_CODEMAP_CODE_ENTRY_H
#define HOSTPROF_JVM_CODEMAP_CODE_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "jvm/code_chain.h"
#include "jvm/codemap/code_methods.h"
#include "jvm/codemap/codemap_record.h"

enum code_end {
	CODE_LIVE,
	CODE_UNLOADED, /* the JVM said so */
	CODE_REPLACED, /* other code was reported at its address */
	CODE_LOST,     /* records were lost; it was gone when the JVM was asked again */
};

struct code_entry {
	uint64_t start;
	uint64_t begin_ns; /* when its load was reported */
	uint64_t end_ns;   /* UINT64_MAX while it lives */
	uint64_t burst_ns; /* since when the JVM had been reporting without a pause; 0 replayed */
	uint64_t unsure_since_ns; /* records were lost between this and begin_ns; else UINT64_MAX */
	uint64_t identity;	  /* hash of what it is, without address and times */
	uint32_t code_bytes;
	uint32_t method; /* outermost method, or CODE_METHOD_UNKNOWN */
	uint32_t replay; /* the replay that reported it last */
	uint32_t pc_count;
	uint32_t node_count;
	uint8_t end;	/* enum code_end */
	bool replayed;	/* it existed for an unknown time before begin_ns */
	uint8_t height; /* this and the next ones are code_index's */
	struct code_entry *before, *after;
	uint64_t max_stop;	/* of it and all below */
	uint64_t max_live_stop; /* the same of those that live */
	uint64_t order;
	char *stub;		 /* owned; not NULL: a stub's name, no method */
	struct code_pc *pcs;	 /* owned, in the same block as the entry */
	struct code_node *nodes; /* the same; methods are ids of struct code_methods */
};

struct code_entry *code_entry_new_method(const struct codemap_event *event,
					 const struct code_methods *methods);
struct code_entry *code_entry_new_stub(const struct codemap_event *event);
void code_entry_free(struct code_entry *entry);
DEFINE_CLEANUP(struct code_entry *, code_entry_free);

/* What it takes of memory. */
size_t code_entry_bytes(const struct code_entry *entry);

static inline uint64_t code_entry_stop(const struct code_entry *entry)
{
	return entry->start + entry->code_bytes;
}

/* Frames of ADDRESS, innermost first; at most JAVA_MAX_INLINE. Returns their number, >= 1. */
unsigned int code_entry_frames(const struct code_entry *entry, const struct code_methods *methods,
			       uint64_t address, struct java_frame *frames);

#endif
