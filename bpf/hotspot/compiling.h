/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Which method does a compiler thread compile? CompileBroker::invoke_compiler_on_method() (share/compiler/compileBroker.cpp,
 * JDK 8 to 28) has a ciEnv on its stack as long as it compiles, of which CompilerThread::_env knows and which knows the
 * CompileTask. So what lies at _env's place counts when it leads back into the thread's own stack, above what the thread does
 * now; other threads have nothing there, since their JavaThread is shorter. The task keeps the method's class alive.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_COMPILING_H
#define HOSTPROF_BPF_HOTSPOT_COMPILING_H

#include "hotspot/interpreted.h"
#include "hotspot/own_thread.h"

static inline bool compiling_may_be(const struct unwind_cursor *c)
{
	return c->jvm.serial && c->jvm.compiling.env;
}

/* The ciEnv of the thread whose thread pointer is FS, 0: it compiles nothing, or is no thread of the JVM. */
static inline wire_u64 compiling_env(struct unwind_cursor *c, struct unwind_memory *memory,
				     wire_u64 fs)
{
	struct own_thread own;
	wire_u64 env;

	if (!own_thread_find(&c->jvm.own, memory, fs, c->leaf_sp, &own) ||
	    memory_read(memory, &env, 8, own.thread + c->jvm.compiling.env))
		return 0;
	return (env & 7) || env <= c->leaf_sp || env >= own.stack_end ? 0 : env;
}

/* Into c->seen, and where an OSR enters it into c->interpreted.bcp. */
static inline bool compiling_find(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u64 fs)
{
	wire_u64 env = compiling_env(c, memory, fs), task;
	wire_s32 osr_bci;

	if (!env)
		return false;
	task = interpreted_metadata(memory, env, c->jvm.compiling.task);
	/* Compilers have one for themselves, too, when they begin. */
	if (!task)
		return false;
	c->seen.method = interpreted_metadata(memory, task, c->jvm.compiling.method);
	c->seen.const_method =
		interpreted_metadata(memory, c->seen.method, c->jvm.method_const_method);
	interpreted_identity(c, memory);
	if (!c->seen.identity ||
	    memory_read(memory, &osr_bci, 4, task + c->jvm.compiling.osr_bci)) {
		c->compiling_unknown++;
		return false;
	}
	c->interpreted.bcp = osr_bci < 0 ? 0 : (wire_u32)osr_bci + 1;
	return true;
}

#ifdef __bpf__

UNWIND_ALONE(bool, compiling_find, (struct unwind_cursor * c, wire_u64 fs), c, (c, NULL, fs), false)

#define compiling_find(c, memory, fs) (compiling_find_alone(c, fs) & 1)

#endif

/* Before all frames: a walk may be finished later, when another method is compiled. */
static inline enum unwind_verdict compiling_put(struct unwind_cursor *c, wire_u64 *out)
{
	wire_u64 word = (c->interpreted.bcp & WIRE_FRAME_ADDRESS_MASK) |
			(wire_u64)WIRE_FRAME_COMPILING << WIRE_FRAME_KIND_SHIFT;

	if (c->frames >= c->max_frames)
		return UNWIND_STOP;
	c->frames++;
	c->compiling++;
	cursor_put(c, out, word);
	cursor_put(c, out, c->seen.method);
	cursor_put(c, out, c->seen.const_method);
	cursor_put(c, out, 0);
	return cursor_put(c, out, c->seen.identity);
}

#endif
