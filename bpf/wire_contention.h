/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Waits for locks of the kernel's own, as its tracepoints lock:contention_begin and _end tell of them. Included by wire.h. */
#ifndef HOSTPROF_WIRE_CONTENTION_H
#define HOSTPROF_WIRE_CONTENTION_H

/* Threads that wait for locks with which one sleeps, at one time. */
#define WIRE_CONTENTION_THREADS 8192

/* In the place of a class: a lock that is no symbol's, but a field of what the thread itself has. */
enum wire_contention_field {
	WIRE_CONTENTION_NO_FIELD,
	WIRE_CONTENTION_MMAP_LOCK, /* mm_struct.mmap_lock of its memory */
	WIRE_CONTENTION_SIGLOCK,   /* sighand_struct.siglock of its process */
	WIRE_CONTENTION_FIELDS
};

#endif
