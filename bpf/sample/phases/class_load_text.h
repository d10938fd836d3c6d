/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What libjvm tells of a class that it has loaded, at its probe: the name's Symbol. */
#ifndef HOSTPROF_BPF_SAMPLE_PHASES_CLASS_LOAD_TEXT_H
#define HOSTPROF_BPF_SAMPLE_PHASES_CLASS_LOAD_TEXT_H

#include "sample/phases/usdt_reg.h"

/* What the trigger knows of it. */
struct class_load_seen {
	wire_u64 form;
	wire_u32 chance;
};

/* In the place of a virtual thread's name, which may have loaded it. */
static __always_inline void class_load_put(struct unwind_cursor *c,
					   const struct class_load_seen *seen,
					   const struct pt_regs *regs)
{
	struct wire_class_load *head = (void *)c->virtual_thread.name;
	wire_u64 at = usdt_reg(regs, WIRE_USDT_NTH_REG(seen->form, WIRE_CLASS_NAME));
	wire_u64 len = (wire_u32)usdt_reg(regs, WIRE_USDT_NTH_REG(seen->form, WIRE_CLASS_BYTES));

	*head = (struct wire_class_load){ .chance = seen->chance };
	if (seen->form & WIRE_CLASS_HAS_SHARED)
		head->shared = usdt_reg(regs, WIRE_USDT_NTH_REG(seen->form, WIRE_CLASS_SHARED)) & 1;
	if (len > WIRE_LOADED_CLASS_BYTES)
		len = WIRE_LOADED_CLASS_BYTES;
	UNWIND_OPAQUE(len);
	len &= WIRE_LOADED_CLASS_BYTES;
	if (!(seen->form & WIRE_CLASS_HAS_NAME) || !cursor_is_user(at) ||
	    bpf_probe_read_user(c->virtual_thread.name + sizeof(*head), len, (const void *)at))
		len = 0;
	head->class_bytes = len;
	c->virtual_thread.name_width = 1;
	c->virtual_thread.name_bytes = sizeof(*head) + len;
}

#endif
