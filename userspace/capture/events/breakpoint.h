/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware breakpoints: an address is read, written or run. The cpu watches it, on each cpu and whichever process runs; where a symbol is, is
 * each process's own business, so that an address belongs to one.
 */
#ifndef HOSTPROF_CAPTURE_EVENTS_BREAKPOINT_H
#define HOSTPROF_CAPTURE_EVENTS_BREAKPOINT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* The debug registers of a cpu: HBP_NUM of the kernel's arch/x86/include/asm/hw_breakpoint.h. */
#define BREAKPOINT_MAX_PLACES 4

struct breakpoint_place {
	uint64_t address;
	uint32_t tgid; /* whose; 0: of all processes that are recorded */
};

struct breakpoint {
	char symbol[256];   /* "": it is an address */
	uint64_t address;   /* that one */
	uint64_t plus;	    /* bytes behind it */
	uint32_t len;	    /* bytes that are watched */
	uint32_t access;    /* HW_BREAKPOINT_… */
	unsigned int count; /* 0: the caller has yet to find it (symbolize/watch_find.h) */
	struct breakpoint_place places[BREAKPOINT_MAX_PLACES];
};

bool breakpoint_is_name(const char *name);

/*
 * NAME, "mem:WHAT[+OFF][/LEN][:ACCESS]", as async-profiler and perf have it: WHAT is a symbol, or an address in hexadecimal (0x…), LEN 1
 * (default), 2, 4 or 8, ACCESS rw (default), w or x. -EINVAL: it is not of that form.
 */
int breakpoint_parse(const char *name, struct breakpoint *ret_breakpoint, struct err *err);

/*
 * Its symbol is at ADDRESS in process TGID (0: it is an address). -EINVAL: no breakpoint can be there; -E2BIG: a cpu cannot watch that many.
 */
int breakpoint_add_place(struct breakpoint *breakpoint, uint64_t address, uint32_t tgid,
			 struct err *err);

/* What perf_event_open() wants to know of place NUMBER. */
void breakpoint_fill_attr(const struct breakpoint *breakpoint, unsigned int number,
			  struct perf_event_attr *attr);

#endif
