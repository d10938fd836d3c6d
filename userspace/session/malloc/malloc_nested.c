/* SPDX-License-Identifier: Apache-2.0 */
#include "session/malloc/malloc_nested.h"

#include "process/mappings.h"
#include "symbolize/words/sample_words.h"

/* Between two of them there are few functions of the allocator's own; others below may be any number. */
#define MAX_BETWEEN 24

struct caller {
	const struct malloc_file *file; /* NULL: it is in none of them */
	bool gives;			/* it is one of the functions itself */
};

static struct caller find_caller(const struct malloc_files *files, struct process *process,
				 uint64_t address)
{
	const struct mapping *m = process_find_mapping(process, address);
	struct caller caller = { .file = m ? malloc_files_find(files, &m->key) : NULL };

	if (caller.file)
		caller.gives =
			malloc_file_place(caller.file, address - m->start + m->pgoff) != NULL;
	return caller;
}

/* Its own code, or that of a library that has it; a program may have anything else, too. */
static bool is_for_itself(const struct caller *caller, bool first, bool pages)
{
	if (!caller->file)
		return false;
	return caller->gives || caller->file->kind == MALLOC_ALLOCATOR ||
	       (first && pages && caller->file->kind == MALLOC_LIBC);
}

bool malloc_is_nested(const struct malloc_files *files, struct process *process,
		      const struct wire_sample *sample)
{
	bool pages = sample->alloc_class == WIRE_MALLOC_PAGES;
	struct word_reader kernel, user;
	struct user_word word;

	sample_words_read(sample, &kernel, &user);
	/* The first one is the function itself, behind what is no frame. */
	do {
		if (!user_word_next(&user, &word))
			return false;
	} while (word.kind == WIRE_FRAME_COMPILING);
	for (unsigned int i = 0; i < MAX_BETWEEN && user_word_next(&user, &word); i++) {
		struct caller caller;

		if (word.kind != WIRE_FRAME_CODE)
			return false;
		caller = find_caller(files, process, word.address);
		if (is_for_itself(&caller, i == 0, pages))
			return true;
	}
	return false;
}
