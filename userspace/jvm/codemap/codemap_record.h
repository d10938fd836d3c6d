/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One record of a code map (jvmagent/codemap.h) out of bytes that another process wrote: every
 * length and count is checked here, so that what comes out can be used as it is. Pointers of an
 * event lie within the parsed bytes.
 */
#ifndef HOSTPROF_JVM_CODEMAP_CODEMAP_RECORD_H
#define HOSTPROF_JVM_CODEMAP_CODEMAP_RECORD_H

#include <stdint.h>
#include <sys/types.h>

#include "codemap.h"

struct codemap_text {
	const char *data; /* not terminated, any bytes */
	uint32_t len;
};

struct codemap_event {
	uint16_t kind;	  /* enum codemap_kind; other values are skipped by the caller */
	uint16_t flags;	  /* enum codemap_flag */
	uint64_t time_ns; /* in the JVM's clock */

	union {
		struct {
			uint64_t number;
			struct codemap_text class_name, name, source;
			struct codemap_text descriptor; /* empty: not known */
			const struct codemap_line *lines;
			uint32_t line_count;
		} method;

		struct {
			uint64_t address; /* address + code_bytes does not wrap */
			uint32_t code_bytes;
			uint32_t pc_count;
			uint64_t method;
			const struct codemap_pc *pcs; /* walk with codemap_next_pc() */
		} load;

		struct {
			uint64_t address;
		} unload;

		struct {
			uint64_t address;
			uint32_t code_bytes;
			struct codemap_text name;
		} dynamic;

		struct {
			uint64_t dropped;
		} gap;

		struct {
			uint32_t tid;	      /* 0: CODEMAP_THREAD_SEEN */
			uint64_t java_thread; /* 0: not CODEMAP_THREAD_SEEN */
			uint64_t java_tid;
			struct codemap_text name;
		} thread;

		struct {
			uint64_t id; /* not 0 */
			struct codemap_text name;
		} class;

		struct {
			const struct codemap_object *items;
			uint32_t count;
			uint32_t level;
			uint32_t seq;
		} objects;
	};
};

/*
 * Parse the record at DATA (8-byte aligned). Returns the bytes it takes, 0 when LEN bytes do not
 * hold all of it, -EBADMSG when it cannot be a record.
 */
ssize_t codemap_parse(const void *data, size_t len, struct codemap_event *ret_event);

static inline const struct codemap_frame *codemap_pc_frames(const struct codemap_pc *pc)
{
	return (const void *)(pc + 1);
}

/* The entry after PC; the caller counts to pc_count. */
static inline const struct codemap_pc *codemap_next_pc(const struct codemap_pc *pc)
{
	return (const void *)(codemap_pc_frames(pc) + pc->depth);
}

#endif
