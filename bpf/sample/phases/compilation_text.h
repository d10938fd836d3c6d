/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * What libjvm tells of a method that it has compiled, at its probe: names in Symbols (share/oops/symbol.hpp), which have no end, and whether it
 * is good, a byte in the CompileTask (share/compiler/compileBroker.cpp, JDK 11 to 28). So the register that leads there is the task,
 * and what else is wanted of it lies at the JVM's own offsets.
 */
#ifndef HOSTPROF_BPF_SAMPLE_PHASES_COMPILATION_TEXT_H
#define HOSTPROF_BPF_SAMPLE_PHASES_COMPILATION_TEXT_H

#include "sample/phases/usdt_reg.h"

/* What the trigger knows of it. */
struct compilation_seen {
	wire_u64 form;
	wire_u64 run_ns;
	wire_u32 chance;
	const struct wire_phases *jvm; /* NULL: it is not known yet */
};

#define COMPILATION_LEVELS 4

/* The string of LEN bytes at ADDRESS to OFFSET of what is sent; how much of it there is. */
#define COMPILATION_PUT(c, offset, regs, form, name)                                     \
	({                                                                               \
		wire_u64 at_ = usdt_reg(regs, WIRE_USDT_NTH_REG(form, WIRE_JIT_##name)); \
		wire_u64 len_ = (wire_u32)usdt_reg(                                      \
			regs, WIRE_USDT_NTH_REG(form, WIRE_JIT_##name##_BYTES));         \
		compilation_copy(c, offset, at_, len_, WIRE_COMPILED_##name##_BYTES);    \
	})

static __always_inline wire_u32 compilation_copy(struct unwind_cursor *c, wire_u32 offset,
						 wire_u64 at, wire_u64 len, wire_u64 most)
{
	if (len > most)
		len = most;
	UNWIND_OPAQUE(len);
	len &= most;
	UNWIND_OPAQUE(offset);
	if (offset > WIRE_TEXT_BYTES - WIRE_COMPILED_CLASS_BYTES || !cursor_is_user(at) ||
	    bpf_probe_read_user(&c->virtual_thread.name[offset], len, (const void *)at))
		return 0;
	return len;
}

static __always_inline wire_u32 compilation_put_names(struct unwind_cursor *c,
						      struct wire_compilation *head, wire_u64 form,
						      const struct pt_regs *regs)
{
	wire_u32 end = sizeof(*head);
	wire_u64 compiler = usdt_reg(regs, WIRE_USDT_NTH_REG(form, WIRE_JIT_COMPILER));

	(void)bpf_probe_read_user_str(head->compiler, sizeof(head->compiler),
				      (const void *)compiler);
	head->class_bytes = COMPILATION_PUT(c, end, regs, form, CLASS);
	end += head->class_bytes;
	head->method_bytes = COMPILATION_PUT(c, end, regs, form, METHOD);
	end += head->method_bytes;
	head->signature_bytes = COMPILATION_PUT(c, end, regs, form, SIGNATURE);
	return end + head->signature_bytes;
}

static __always_inline void compilation_put_task(struct wire_compilation *head,
						 const struct wire_compile_task *of, wire_u64 task)
{
	wire_s32 level = 0, osr_bci = -1;

	if (!of->level || bpf_probe_read_user(&level, 4, (const void *)(task + of->level)) ||
	    bpf_probe_read_user(&osr_bci, 4, (const void *)(task + of->osr_bci)) || level < 1 ||
	    level > COMPILATION_LEVELS)
		return;
	(void)bpf_probe_read_user(&head->compile_id, 4, (const void *)(task + of->id));
	head->level = level;
	if (osr_bci >= 0)
		head->success |= WIRE_COMPILED_OSR;
}

static __always_inline void compilation_put_success(struct wire_compilation *head,
						    const struct compilation_seen *seen,
						    const struct pt_regs *regs)
{
	wire_u64 form = seen->form, value = usdt_reg(regs, WIRE_USDT_NTH_REG(form, WIRE_JIT_TASK));
	wire_u8 success = value;

	if (form & WIRE_JIT_HAS_TASK) {
		if (seen->jvm)
			compilation_put_task(head, &seen->jvm->compile_task, value);
		if (bpf_probe_read_user(&success, 1, (const void *)(value + WIRE_JIT_AT(form))))
			return;
	}
	if (success <= 1)
		head->success |= WIRE_COMPILED_KNOWN | (success ? WIRE_COMPILED_SUCCESS : 0);
}

/* In the place of a virtual thread's name: compiler threads run none. */
static __always_inline void compilation_put(struct unwind_cursor *c,
					    const struct compilation_seen *seen,
					    const struct pt_regs *regs)
{
	struct wire_compilation *head = (void *)c->virtual_thread.name;

	*head = (struct wire_compilation){ .run_ns = seen->run_ns, .chance = seen->chance };
	c->virtual_thread.name_width = 1;
	c->virtual_thread.name_bytes = seen->form & WIRE_JIT_HAS_NAMES
					       ? compilation_put_names(c, head, seen->form, regs)
					       : sizeof(*head);
	if (seen->form & (WIRE_JIT_HAS_TASK | WIRE_JIT_HAS_SUCCESS))
		compilation_put_success(head, seen, regs);
}

#endif
