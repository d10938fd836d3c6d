/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Functions that give memory of the process, and take it back: what their arguments say. Which function is of which form
 * stands in session/malloc/malloc_functions.c; the form goes to the program in its cookie. Included by wire.h.
 */
#ifndef HOSTPROF_WIRE_MALLOC_H
#define HOSTPROF_WIRE_MALLOC_H

enum wire_malloc_form {
	WIRE_MALLOC_SIZE,  /* malloc(size) */
	WIRE_MALLOC_NEW,   /* operator new(size, …), which may be left by an exception */
	WIRE_MALLOC_ARRAY, /* calloc(count, size) */
	WIRE_MALLOC_AGAIN, /* realloc(old, size): what it gives is new, what it was given is free */
	WIRE_MALLOC_ALIGNED, /* aligned_alloc(alignment, size) */
	WIRE_MALLOC_INTO,    /* posix_memalign(&result, alignment, size) */
	WIRE_MALLOC_MAP,     /* mmap(address, size, protection, flags, …) */
	WIRE_MALLOC_REMAP,   /* mremap(old, its size, size, …) */
	WIRE_MALLOC_FREE,    /* free(old), munmap(old, …) */
	WIRE_MALLOC_FORMS
};

/* In the place of a sample's class: pages of the kernel's, which an allocator may have asked for. */
#define WIRE_MALLOC_PAGES 1

/* What asks for more gets none: user addresses have 47 bits. */
#define WIRE_MALLOC_MOST_BYTES (1ULL << 47)

/* Sampled memory that was not given back: where it is -> its sample's alloc_object. */
struct wire_kept_key {
	wire_u64 address;
	wire_u32 tgid;
	wire_u32 exec_id;
};

/* Half of it is room for what comes until userspace looks again (session/malloc/malloc_kept.h). */
#define WIRE_MALLOC_MOST_KEPT 65536
/* An id is the time at which it was given, with these bits of the cpu behind. */
#define WIRE_MALLOC_ID_SHIFT 8

/* BPF's: samples in this window, and how often the interval was doubled (bpf/sample/thin.h). */
struct wire_pace {
	wire_u64 window_ns;
	wire_u32 taken;
	wire_u32 doubled;
};

_Static_assert(sizeof(struct wire_kept_key) == 16, "wire_kept_key");
_Static_assert(WIRE_MAX_EVENTS <= 1 << WIRE_PLACE_FORM_SHIFT, "both fit into a cookie");

#endif
