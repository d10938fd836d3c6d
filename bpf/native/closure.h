/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The leaf in the code that leads from a callback's address to libffi's closures (src/x86/unix64.S: trampoline_code_table, ffi_closure_unix64_alt),
 * which nothing describes: two words are put below the return address, and taken off again where it leads to.
 */
#ifndef HOSTPROF_BPF_NATIVE_CLOSURE_H
#define HOSTPROF_BPF_NATIVE_CLOSURE_H

#include "native/leaf_call.h"

#define CLOSURE_TAKE	 0x10ec8348 /* sub $16,%rsp */
#define CLOSURE_SAVE	 0x2414894c /* mov %r10,(%rsp) */
#define CLOSURE_LOAD	 0x158b4c   /* mov d32(%rip),%r10 */
#define CLOSURE_PUT	 0x2454894c /* mov %r10,8(%rsp) */
#define CLOSURE_JUMP	 0xe2ff41   /* jmp *%r10 */
#define CLOSURE_GET	 0x24548b4c /* mov 8(%rsp),%r10 */
#define CLOSURE_GIVE	 0x10c48348 /* add $16,%rsp */
#define CLOSURE_JUMP_REL 0xe9

/* The two words are not there yet, or not there any more. */
static inline bool closure_is_frameless(const wire_u8 *p)
{
	if (leaf_u32(p) == LEAF_ENDBR64)
		p += 4;
	else if (p[0] == CLOSURE_JUMP_REL)
		return leaf_u32(p - 4) == CLOSURE_GIVE && leaf_u24(p - 8) == 0x24548b;
	return leaf_u32(p) == CLOSURE_TAKE && leaf_u32(p + 4) == CLOSURE_SAVE;
}

/* They are. */
static inline bool closure_has_words(const wire_u8 *p)
{
	const wire_u8 *get = leaf_u32(p) == LEAF_ENDBR64 ? p + 4 : p;

	switch (leaf_u32(p)) {
	case CLOSURE_SAVE: return leaf_u24(p + 4) == CLOSURE_LOAD;
	case CLOSURE_PUT: return leaf_u24(p + 5) == CLOSURE_LOAD;
	case CLOSURE_GIVE: return p[4] == CLOSURE_JUMP_REL && leaf_u32(p - 5) == CLOSURE_GET;
	default: break;
	}
	if (leaf_u24(p) == CLOSURE_LOAD)
		return leaf_u32(p + 7) == CLOSURE_PUT ||
		       (leaf_u24(p + 7) == CLOSURE_JUMP && leaf_u32(p - 5) == CLOSURE_PUT);
	if (leaf_u24(p) == CLOSURE_JUMP)
		return leaf_u24(p - 7) == CLOSURE_LOAD;
	return leaf_u32(get) == CLOSURE_GET && leaf_u32(get + 5) == CLOSURE_GIVE &&
	       get[9] == CLOSURE_JUMP_REL;
}

/* The bytes at pc are in c->code. Where the return address should be; 0: pc is elsewhere. */
static inline wire_u64 closure_ra_at(const struct unwind_cursor *c)
{
	const wire_u8 *p = c->code + UNWIND_CODE_BEHIND;

	if (closure_is_frameless(p))
		return c->sp;
	return closure_has_words(p) ? c->sp + 16 : 0;
}

#endif
