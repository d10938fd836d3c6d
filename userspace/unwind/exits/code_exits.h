/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How code returns of which nobody tells anything: from pc on it is followed on all ways, with what each instruction does to the
 * stack pointer, until they return (bpf/native/exits.h says for which code). What is found is kept for a while, as a program
 * spends its time in few places. Whether it is true the words on the stack must say.
 */
#ifndef HOSTPROF_UNWIND_EXITS_CODE_EXITS_H
#define HOSTPROF_UNWIND_EXITS_CODE_EXITS_H

#include <stdint.h>

#include "native/exits.h"
#include "unwind/exits/code_pages.h"

struct code_exits;

struct code_exits *code_exits_new(void);
void code_exits_free(struct code_exits *exits);

/* At most EXITS_MOST that differ; their number. It may take 20 ms of a second for one process, and 80 ms for all; NOW_NS is CLOCK_MONOTONIC. */
uint32_t code_exits_find(struct code_exits *exits, const struct code_source *source, uint64_t pc,
			 uint64_t now_ns, struct unwind_exit *ret);

/* How often there was no time for it. */
uint64_t code_exits_refused(const struct code_exits *exits);

#endif
