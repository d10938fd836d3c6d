// SPDX-License-Identifier: Apache-2.0
/* What modules attach to processes: each finds its own, and nobody else's. */
#include "test.h"

#include "base/macros.h"
#include "process/book.h"

struct note {
	int before; /* an attachment need not be the first member */
	struct attachment attachment;
	int number;
};

static struct note *find(const struct book *book, const struct attachments *of)
{
	return book_entry(book, of, struct note, attachment);
}

/* The numbers of what BOOK has, in its order. */
static unsigned int numbers(const struct book *book)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < book->all.len; i++) {
		assert_int_equal(book->all.items[i]->at, i);
		sum = sum * 10 +
		      (unsigned int)container_of(book->all.items[i], struct note, attachment)
			      ->number;
	}
	return sum;
}

static void each_book_finds_its_own(void **state)
{
	struct attachments process = { 0 }, other = { 0 };
	struct book names = { VEC_INIT }, agents = { VEC_INIT };
	struct note a = { .number = 1 }, b = { .number = 2 }, c = { .number = 3 };

	(void)state;
	assert_null(find(&names, &process));
	book_attach(&names, &process, &a.attachment);
	assert_null(find(&agents, &process));
	book_attach(&agents, &process, &b.attachment);
	book_attach(&names, &other, &c.attachment);
	assert_ptr_equal(find(&names, &process), &a);
	assert_ptr_equal(find(&agents, &process), &b);
	assert_ptr_equal(find(&names, &other), &c);
	assert_null(find(&agents, &other));
	assert_int_equal(numbers(&names), 13);
	assert_int_equal(numbers(&agents), 2);
	book_release(&names);
	book_release(&agents);
}

static void what_is_detached_is_gone(void **state)
{
	struct attachments of[4] = { 0 };
	struct book names = { VEC_INIT }, agents = { VEC_INIT };
	struct note notes[4] = {
		{ .number = 1 }, { .number = 2 }, { .number = 3 }, { .number = 4 }
	};
	struct note agent = { .number = 9 }, late = { .number = 5 };

	(void)state;
	book_attach(&agents, &of[1], &agent.attachment);
	for (int i = 0; i < 4; i++)
		book_attach(&names, &of[i], &notes[i].attachment);
	/* the first of its process's, and one behind it */
	book_detach(&names, &of[1], &notes[1].attachment);
	assert_null(find(&names, &of[1]));
	assert_ptr_equal(find(&agents, &of[1]), &agent);
	assert_int_equal(numbers(&names), 143);
	book_attach(&names, &of[1], &late.attachment);
	book_detach(&agents, &of[1], &agent.attachment);
	assert_null(find(&agents, &of[1]));
	assert_ptr_equal(find(&names, &of[1]), &late);
	/* the last of the book */
	book_detach(&names, &of[1], &late.attachment);
	assert_int_equal(numbers(&names), 143);
	for (int i = 0; i < 4; i++)
		if (i != 1)
			book_detach(&names, &of[i], &notes[i].attachment);
	assert_int_equal(names.all.len, 0);
	assert_null(of[0].first);
	book_release(&names);
	book_release(&agents);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_book_finds_its_own),
		cmocka_unit_test(what_is_detached_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
