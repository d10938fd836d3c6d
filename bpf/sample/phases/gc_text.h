/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What is told of a collector's pause. */
#ifndef HOSTPROF_BPF_SAMPLE_PHASES_GC_TEXT_H
#define HOSTPROF_BPF_SAMPLE_PHASES_GC_TEXT_H

#include "sample/phases/gc.h"
#include "unwind/cursor.h"

/* In the place of a virtual thread's name. */
static __always_inline void gc_put(struct unwind_cursor *c, const struct gc_book *book)
{
	struct wire_gc_pause *text = (void *)c->virtual_thread.name;

	__builtin_memset(text, 0, sizeof(*text));
	if (book->name_at)
		(void)bpf_probe_read_user_str(text->operation, sizeof(text->operation),
					      (const void *)book->name_at);
	/* A compiler would have all of it on the stack for a moment. */
	(void)bpf_probe_read_kernel(text->cause, sizeof(text->cause), book->cause);
	c->virtual_thread.name_width = 1;
	c->virtual_thread.name_bytes = sizeof(*text);
}

#endif
