/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Probes that HotSpot has in itself (USDT) and that come in steps: what a place's cookie tells the program of it. Included by wire.h. */
#ifndef HOSTPROF_WIRE_USDT_H
#define HOSTPROF_WIRE_USDT_H

/* -e safepoint */
enum wire_safepoint_step {
	WIRE_SAFEPOINT_BEGIN, /* hs_private:safepoint__begin: threads are to be stopped */
	WIRE_SAFEPOINT_OPERATION, /* hotspot:vmops__begin(name, …), also of operations that stop nobody */
	WIRE_SAFEPOINT_OPERATION_END, /* hotspot:vmops__end */
	WIRE_SAFEPOINT_END,	      /* hs_private:safepoint__end: they go on */
	WIRE_SAFEPOINT_STEPS
};

/* -e gc */
enum wire_gc_step {
	WIRE_GC_OPERATION, /* hotspot:vmops__begin(name, …) */
	WIRE_GC_BEGIN,	   /* hotspot:gc__begin: the operation collects */
	WIRE_GC_POOL, /* hotspot:mem__pool__gc__begin: a collection begins, of which the JVM has noted the cause */
	WIRE_GC_OPERATION_END, /* hotspot:vmops__end */
	WIRE_GC_STEPS
};

/* -e lock: LockSupport.park() */
enum wire_park_step {
	WIRE_PARK_BEGIN, /* hotspot:thread__park__begin */
	WIRE_PARK_END,	 /* hotspot:thread__park__end */
	WIRE_PARK_STEPS
};

/* The same of virtual threads, and of -e offcpu and wall: functions of libjvm, of which its stubs call the first two */
enum wire_yield_step {
	WIRE_YIELD_FREEZE, /* freeze(JavaThread *, …): the frames go into the heap */
	WIRE_YIELD_THAW, /* Continuation::prepare_thaw(JavaThread *, bool return_barrier): the first of them come back */
	WIRE_YIELD_PREEMPT, /* freeze_preempt(JavaThread *, …), JDK 24 on: freeze() for who waits for a monitor */
};

/* -e jit */
enum wire_jit_step {
	WIRE_JIT_BEGIN, /* hotspot:method__compile__begin */
	WIRE_JIT_END, /* hotspot:method__compile__end(compiler, …, class, …, method, …, signature, …, success) */
	WIRE_JIT_STEPS
};

/* The form of a place (WIRE_PLACE_COOKIE()): REG has the first argument, by its DWARF number; 16 and more: nobody knows. */
#define WIRE_USDT_FORM(step, reg) ((wire_u64)(step) | (wire_u64)(reg) << 8)
#define WIRE_USDT_STEP(form)	  ((form)&0xff)
#define WIRE_USDT_REG(form)	  ((form) >> 8 & 0xff)
/* It has the address of it, but for a displacement. */
#define WIRE_USDT_IN_MEMORY (1ULL << 16)
#define WIRE_USDT_FORM_AT(step, reg, displacement) \
	(WIRE_USDT_FORM(step, reg) | WIRE_USDT_IN_MEMORY | (wire_u64)(wire_u16)(displacement) << 24)
#define WIRE_USDT_DISPLACEMENT(form) ((wire_s16)((form) >> 24))

/* Others have several registers, of four bits each, and bits that say which are known. */
#define WIRE_USDT_PUT_REG(which, reg)  ((wire_u64)((reg)&15) << (8 + 4 * (which)))
#define WIRE_USDT_NTH_REG(form, which) ((form) >> (8 + 4 * (which)) & 15)

/* -e classload: the one step, hotspot:class__loaded(name, …, loader, shared) */
enum wire_class_reg {
	WIRE_CLASS_NAME, /* the address of a string, and its length */
	WIRE_CLASS_BYTES,
	WIRE_CLASS_SHARED,
};

#define WIRE_CLASS_HAS_NAME   (1ULL << 40)
#define WIRE_CLASS_HAS_SHARED (1ULL << 41)

/* A compilation's end. */
enum wire_jit_reg {
	WIRE_JIT_COMPILER, /* the address of a string with an end */
	WIRE_JIT_CLASS,	   /* those of others, and their lengths */
	WIRE_JIT_CLASS_BYTES,
	WIRE_JIT_METHOD,
	WIRE_JIT_METHOD_BYTES,
	WIRE_JIT_SIGNATURE,
	WIRE_JIT_SIGNATURE_BYTES,
	WIRE_JIT_TASK, /* the CompileTask, which has the success at a displacement; or the success itself */
};

#define WIRE_JIT_HAS_NAMES	       (1ULL << 40) /* all registers but the last one are known */
#define WIRE_JIT_HAS_TASK	       (1ULL << 41)
#define WIRE_JIT_HAS_SUCCESS	       (1ULL << 42) /* in the register itself */
#define WIRE_JIT_MOST_DISPLACEMENT     255
#define WIRE_JIT_FORM_AT(displacement) ((wire_u64)(displacement) << 43)
#define WIRE_JIT_AT(form)	       ((form) >> 43 & WIRE_JIT_MOST_DISPLACEMENT)

#endif
