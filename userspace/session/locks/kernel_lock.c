// SPDX-License-Identifier: Apache-2.0
#include "session/locks/kernel_lock.h"

#include "base/strbuf.h"
#include "symbolize/waits/wait.h"

static const char *lock_name(struct symbolizer *symbolizer, const struct wire_sample *sample)
{
	switch ((enum wire_contention_field)sample->alloc_class) {
	case WIRE_CONTENTION_MMAP_LOCK: return "mmap_lock";
	case WIRE_CONTENTION_SIGLOCK: return "siglock";
	case WIRE_CONTENTION_NO_FIELD:
	case WIRE_CONTENTION_FIELDS: break;
	}
	return symbolizer_variable_of_kernel(symbolizer, sample->alloc_object);
}

uint32_t kernel_lock_reason(struct profile *profile, struct symbolizer *symbolizer,
			    const struct wire_sample *sample)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *name = lock_name(symbolizer, sample);

	strbuf_addstr(&text, wait_reason(sample->cause));
	if (name)
		strbuf_addf(&text, " %s", name);
	return profile_string(profile, strbuf_str(&text));
}
