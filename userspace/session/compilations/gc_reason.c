// SPDX-License-Identifier: Apache-2.0
#include "session/compilations/gc_reason.h"

#include <string.h>

#include "symbolize/compilation.h"

uint32_t gc_reason(struct profile *p, const struct wire_sample *sample)
{
	struct wire_gc_pause pause;

	if (!gc_pause_read(sample, &pause) || !pause.cause[0])
		return profile_string(p, "unknown cause");
	return profile_string(p, strcmp(pause.cause, WIRE_GC_NO_CAUSE) ? pause.cause : "no cause");
}
