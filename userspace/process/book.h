/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What modules know of a process hangs at the process itself, so that it is found without a table
 * by pid and goes when the process does. A book is one module's part of it, embedded in the module;
 * an attachment is what the module knows of one process, embedded in a struct of its own:
 *
 *	struct note { struct attachment attachment; … };
 *	struct note *note = book_entry(&notes->book, &process->attached, struct note, attachment);
 *
 * Who tells the module of processes that end is in session/pipeline_books.c.
 */
#ifndef HOSTPROF_PROCESS_BOOK_H
#define HOSTPROF_PROCESS_BOOK_H

#include <stddef.h>

#include "base/vec.h"

/* Those of one process, of one book each. All 0: none. */
struct attachments {
	struct attachment *first; /* borrowed from the books */
};

struct book {
	VEC(struct attachment *) all; /* of all processes; the module owns them */
};

struct attachment {
	const struct book *book;
	struct attachment *next; /* of the same process */
	size_t at;		 /* in book->all */
};

/* A book that has one there already must not attach another. */
void book_attach(struct book *book, struct attachments *to, struct attachment *attachment);
/* OF is the process that it was attached to. */
void book_detach(struct book *book, struct attachments *of, struct attachment *attachment);

/* The module ends: its processes must not be asked for anything any more. */
static inline void book_release(struct book *book)
{
	vec_release(&book->all);
}

/* NULL: none of this book. */
static inline struct attachment *book_find(const struct book *book, const struct attachments *of)
{
	struct attachment *attachment = of->first;

	while (attachment && attachment->book != book)
		attachment = attachment->next;
	return attachment;
}

/* The same as a pointer to the struct that holds it. */
#define book_entry(book, of, type, member)                           \
	({                                                           \
		struct attachment *found_ = book_find((book), (of)); \
		found_ ? container_of(found_, type, member) : NULL;  \
	})

#endif
