/* SPDX-License-Identifier: Apache-2.0 */
/* What a frame of a live JVM is, in one word: its kind's letter and its name. */
#ifndef HOSTPROF_TESTS_FRAME_NAMES_H
#define HOSTPROF_TESTS_FRAME_NAMES_H

#include "code_blob.h"
#include "live_walk.h"

struct frame_names;

/* VS and LAYOUT are borrowed. */
struct frame_names *frame_names_new(uint32_t pid, const struct vmstructs *vs,
				    const struct jvm_layout *layout);
void frame_names_free(struct frame_names *names);

/*
 * "I:Steps.work" interpreted, "C:Steps.work" compiled by C1 or C2, "O:" by OSR, "W:" a native
 * wrapper, "S:vtable chunks" a stub, "N:libjvm.so" native, "M:frozen" a mark, "?" unknown. Kept.
 */
const char *frame_names_find(struct frame_names *names, const struct live_frame *frame);

#endif
