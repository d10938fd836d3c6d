// SPDX-License-Identifier: Apache-2.0
#include "process/book.h"

void book_attach(struct book *book, struct attachments *to, struct attachment *attachment)
{
	attachment->book = book;
	attachment->next = to->first;
	to->first = attachment;
	attachment->at = book->all.len;
	vec_push(&book->all, attachment);
}

void book_detach(struct book *book, struct attachments *of, struct attachment *attachment)
{
	struct attachment **link = &of->first;
	struct attachment *last = book->all.items[--book->all.len];

	while (*link != attachment)
		link = &(*link)->next;
	*link = attachment->next;
	book->all.items[attachment->at] = last;
	last->at = attachment->at;
}
