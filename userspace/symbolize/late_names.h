/* SPDX-License-Identifier: Apache-2.0 */
/* Names for a recording that was taken without them: of stripped files, by debug files from elsewhere. */
#ifndef HOSTPROF_SYMBOLIZE_LATE_NAMES_H
#define HOSTPROF_SYMBOLIZE_LATE_NAMES_H

#include <stdint.h>

#include "profile/profile.h"

/*
 * The debug file of a build id: a descriptor that is the caller's then, or a negative errno; -ETIMEDOUT: do not ask again. It was checked
 * that it is that.
 */
typedef int late_names_fetch_fn(void *data, const char *build_id);

struct late_names_figures {
	uint32_t wanted; /* files with frames without a name */
	uint32_t found;	 /* of these, such that have a debug file */
	uint32_t frames; /* that have a name now */
};

/* No more files are asked for; a host has some hundred libraries. */
#define LATE_NAMES_MAX_FILES 512

void late_names_add(struct profile *p, late_names_fetch_fn *fetch, void *data,
		    struct late_names_figures *ret_figures);

#endif
