/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a pprof file, filled while samples are written: strings, functions, locations.
 * Layout: proto/profile.proto of google/pprof. Ids count from 1; 0 means none.
 */
#ifndef HOSTPROF_OUTPUT_PPROF_PPROF_TABLES_H
#define HOSTPROF_OUTPUT_PPROF_PPROF_TABLES_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "profile/profile.h"

struct pprof_tables {
	const struct profile *profile; /* borrowed */
	bool annotate;
	uint32_t names;		   /* enum frame_names */
	struct intern strings;	   /* the string table; 0 is "" */
	struct intern functions;   /* struct pprof_function, id - 1 */
	struct intern locations;   /* frame ids innermost first, id - 1 */
	uint32_t *frame_functions; /* by frame id; 0: not yet made */
	uint32_t *frame_locations; /* of frames that have a location to themselves */
	bool *used_mappings;	   /* by mapping id; the last one is "[JIT]" */
	struct strbuf scratch;
};

void pprof_tables_init(struct pprof_tables *t, const struct profile *p, bool annotate);
void pprof_tables_release(struct pprof_tables *t);

uint32_t pprof_string(struct pprof_tables *t, const char *s);

/*
 * The location of the frames FRAMES[0..LEN-1], innermost first: LEN - 1 inlined methods and the
 * frame that they are inlined into.
 */
uint32_t pprof_location(struct pprof_tables *t, const uint32_t *frames, uint32_t len);

/* Append the messages of all mappings, locations, functions and strings in use; strings last. */
void pprof_tables_write(struct pprof_tables *t, struct strbuf *out);

#endif
