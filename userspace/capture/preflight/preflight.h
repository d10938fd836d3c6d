/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What recording needs from this kernel and this user, checked one by one. `doctor` prints the
 * rows; capture_open() uses them to explain an EPERM.
 */
#ifndef HOSTPROF_CAPTURE_PREFLIGHT_PREFLIGHT_H
#define HOSTPROF_CAPTURE_PREFLIGHT_PREFLIGHT_H

#include <stdbool.h>

#include "base/err.h"

enum preflight_state { PREFLIGHT_OK, PREFLIGHT_WARN, PREFLIGHT_FAIL };

struct preflight_result {
	enum preflight_state state;
	char found[160]; /* "6.18.44", "cap_bpf missing" */
};

struct preflight_check {
	const char *id;	    /* "kernel", "btf", "cap-bpf" */
	const char *title;  /* "Linux >= 6.1" */
	const char *needed; /* what it is needed for */
	const char *mend;   /* the command or setting that mends it */
	void (*run)(struct preflight_result *ret_result);
};

/* All checks, ends with id == NULL. */
extern const struct preflight_check preflight_checks[];

/* With the rights that take effect now: events of whole cpus. */
bool preflight_may_open_events(void);

/* The first failed check that explains why recording is refused, as an error; 0 when none. */
int preflight_explain(struct err *err);

#endif
