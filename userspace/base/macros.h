/* SPDX-License-Identifier: Apache-2.0 */
/* Language helpers: scope-bound ownership, array sizes, printf checking. No product knowledge. */
#ifndef HOSTPROF_BASE_MACROS_H
#define HOSTPROF_BASE_MACROS_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_SIZE(a)			(sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(f, a)		__attribute__((format(printf, f, a)))
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* The lesser and the greater one; each is evaluated once. The numbers give nested ones names of their own. */
#define MIN(a, b)	     CHOOSE_(<, a, b, __COUNTER__)
#define MAX(a, b)	     CHOOSE_(>, a, b, __COUNTER__)
#define CHOOSE_(op, a, b, n) CHOOSE_BY_(op, a, b, n)
#define CHOOSE_BY_(op, a, b, n)                                             \
	({                                                                  \
		const __auto_type choose_a_##n = (a);                       \
		const __auto_type choose_b_##n = (b);                       \
		choose_a_##n op choose_b_##n ? choose_a_##n : choose_b_##n; \
	})

/* Run FN on the variable's address when it goes out of scope. */
#define _cleanup_(fn) __attribute__((cleanup(fn)))

/* Hand over ownership: yields the pointer and leaves NULL behind. */
#define TAKE_PTR(p)                     \
	({                              \
		__typeof__(p) p_ = (p); \
		(p) = NULL;             \
		p_;                     \
	})

/* Hand over a file descriptor: yields it and leaves -1 behind. */
#define TAKE_FD(fd)            \
	({                     \
		int f_ = (fd); \
		(fd) = -1;     \
		f_;            \
	})

/*
 * DEFINE_CLEANUP(struct noun *, noun_free) makes noun_freep() for _cleanup_(noun_freep).
 * Destructors take NULL.
 */
#define DEFINE_CLEANUP(type, fn)          \
	static inline void fn##p(type *p) \
	{                                 \
		fn(*p);                   \
	}                                 \
	struct hostprof_swallow_semicolon

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define _cleanup_free_	 _cleanup_(freep)
#define _cleanup_close_	 _cleanup_(closep)
#define _cleanup_fclose_ _cleanup_(fclosep)

#endif
