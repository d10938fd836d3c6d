/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share/runtime/stubCodeGenerator.hpp, StubCodeDesc, JDK 8 to 28: next, group, name, in 8 an index, begin, end. What
 * points to the first one is a static variable that only a symbol table tells of, which many builds lack. But it lies
 * in the pages of those that VMStructs tell of, near StubRoutines::_call_stub_return_address (five pages at most), and
 * no other list has an element that holds the call stub.
 */
#include "jvm/names/stub_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/java_name.h"

#define PAGE_BYTES 4096
#define PAGE_WORDS (PAGE_BYTES / sizeof(uint64_t))
/* To each side; some hundred words of these look like an address of malloc()'s. */
#define MAX_PAGES     32
#define MAX_ADDRESSES 2000
/* There are 66 to 250. */
#define MAX_STUBS 1024
/*
 * Of all readings: the list grows when the compilers start, and with the first virtual thread. A hostile one has lists
 * behind each address that is tried.
 */
#define MAX_ELEMENTS (16 * MAX_STUBS)
#define MAX_NAME     63

/* Searches that a late broker may end. */
#define MAX_TRIES 8

/* JVMs of a host are of few builds, whose heads lie equally far from the static variable that is known. */
#define MAX_HINTS 4

static struct {
	uint64_t distance[MAX_HINTS];
	unsigned int count, next;
} hints; /* of the loop's thread; what is found there is proven as anywhere else */

enum { DESC_NEXT, DESC_NAME = 2, DESC_START = 3, DESC_START_JDK_8 = 4, DESC_WORDS = 6 };

void stub_list_init(struct stub_list *list, const struct vm_memory *memory,
		    const struct jvm_layout *layout)
{
	*list = (struct stub_list){ .memory = memory, .layout = layout };
}

static void forget(struct stub_list *list)
{
	for (size_t i = 0; i < list->stubs.len; i++)
		free(list->stubs.items[i].name);
	vec_release(&list->stubs);
}

void stub_list_release(struct stub_list *list)
{
	forget(list);
}

/* --- one element ------------------------------------------------------------------------------ */

static bool in_code(const struct stub_list *list, uint64_t start, uint64_t end)
{
	const struct wire_jvm *wire = &list->layout->wire;

	return start >= wire->code_start && start < end && end <= wire->code_end;
}

/* malloc()'s, of a process that is no 32-bit one. */
static bool is_element_address(uint64_t address)
{
	return address >> 32 && address < 1ULL << 47 && address % 16 == 0;
}

static bool read_element(struct vm_pages *pages, uint64_t at, uint64_t ret_words[DESC_WORDS])
{
	return is_element_address(at) &&
	       vm_pages_read(pages, at, ret_words, DESC_WORDS * sizeof(*ret_words)) == 0;
}

static void add_stub(struct stub_list *list, struct vm_pages *pages, const uint64_t *words)
{
	struct stub stub = { words[list->start_at], words[list->start_at + 1], NULL };
	struct strbuf text = STRBUF_INIT;
	char name[MAX_NAME + 1];

	/* One that is being made has no end yet. */
	if (!in_code(list, stub.start, stub.end))
		return;
	if (vm_pages_read_string(pages, words[DESC_NAME], name, sizeof(name)) < 0)
		return;
	java_name_add_stub(&text, name, strlen(name));
	if (!text.len) {
		strbuf_release(&text);
		return;
	}
	stub.name = strbuf_take(&text);
	vec_push(&list->stubs, stub);
}

/* --- all of them ------------------------------------------------------------------------------ */

static const struct stub *innermost(const struct stub_list *list, uint64_t address)
{
	const struct stub *found = NULL;

	for (size_t i = 0; i < list->stubs.len; i++) {
		const struct stub *stub = &list->stubs.items[i];

		if (address >= stub->start && address < stub->end &&
		    (!found || stub->end - stub->start < found->end - found->start))
			found = stub;
	}
	return found;
}

/* From HEAD on; false: this is no list of stubs. */
static bool read_list(struct stub_list *list, uint64_t head)
{
	_cleanup_(vm_pages_freep) struct vm_pages *pages = vm_pages_new(list->memory);
	uint64_t words[DESC_WORDS], at = head;

	forget(list);
	for (unsigned int n = 0; at && n < MAX_STUBS; n++, at = words[DESC_NEXT]) {
		if (list->elements >= MAX_ELEMENTS || !read_element(pages, at, words))
			break;
		list->elements++;
		add_stub(list, pages, words);
	}
	list->head = head;
	return innermost(list, list->layout->wire.call_stub_return - 1) != NULL;
}

/* WORDS are those of an element at HEAD, whose list is read only if they are of a stub. */
static bool is_head(struct stub_list *list, uint64_t head, const uint64_t words[DESC_WORDS])
{
	static const unsigned int starts[] = { DESC_START, DESC_START_JDK_8 };

	for (unsigned int i = 0; i < ARRAY_SIZE(starts); i++) {
		list->start_at = starts[i];
		if (in_code(list, words[starts[i]], words[starts[i] + 1]) && read_list(list, head))
			return true;
	}
	return false;
}

/* What the words of a page lead to. */
struct candidates {
	uint64_t words[PAGE_WORDS]; /* of the page */
	uint64_t elements[PAGE_WORDS][DESC_WORDS];
	struct wall_hop hops[PAGE_WORDS]; /* one for each candidate */
	unsigned int at[PAGE_WORDS];	  /* which word it is */
	unsigned int count;
};

/* All of them at once; not all that looks like an address is one. */
static int read_candidates(struct stub_list *list, struct candidates *c)
{
	for (unsigned int i = 0; i < c->count; i++)
		c->hops[i] = (struct wall_hop){ .address = c->words[c->at[i]],
						.len = sizeof(c->elements[i]),
						.base = WALL_NO_HOP,
						.index = WALL_NO_HOP };
	return vm_memory_follow(list->memory, c->hops, c->count, (uint8_t *)c->elements,
				sizeof(c->elements));
}

/* In the page at PAGE; -ENODATA: not there. */
static int search_page(struct stub_list *list, uint64_t page, struct candidates *c,
		       unsigned int *left)
{
	int r = vm_memory_read(list->memory, page, c->words, sizeof(c->words));

	if (r < 0)
		return r;
	c->count = 0;
	for (unsigned int i = 0; i < PAGE_WORDS && c->count < *left; i++)
		if (is_element_address(c->words[i]))
			c->at[c->count++] = i;
	*left -= c->count;
	r = c->count ? read_candidates(list, c) : 0;
	if (r < 0)
		return r;
	for (unsigned int i = 0; i < c->count; i++) {
		if (c->hops[i].len < sizeof(c->elements[i]) ||
		    !is_head(list, c->words[c->at[i]], c->elements[i]))
			continue;
		list->head_at = page + c->at[i] * sizeof(*c->words);
		return 0;
	}
	return *left ? -ENODATA : -E2BIG;
}

static bool look_at(struct stub_list *list, uint64_t head_at)
{
	struct {
		uint64_t head, words[DESC_WORDS];
	} found;
	struct wall_hop hops[] = { { .address = head_at,
				     .len = sizeof(found.head),
				     .base = WALL_NO_HOP,
				     .index = WALL_NO_HOP },
				   { .len = sizeof(found.words), .index = WALL_NO_HOP } };

	if (vm_memory_follow(list->memory, hops, ARRAY_SIZE(hops), (uint8_t *)&found,
			     sizeof(found)) < 0 ||
	    hops[1].len < sizeof(found.words) || !is_element_address(found.head) ||
	    !is_head(list, found.head, found.words))
		return false;
	list->head_at = head_at;
	return true;
}

static bool look_where_others_have_it(struct stub_list *list)
{
	for (unsigned int i = 0; i < hints.count; i++)
		if (look_at(list, list->layout->call_stub_at + hints.distance[i]))
			return true;
	return false;
}

static void note_place(const struct stub_list *list)
{
	hints.distance[hints.next] = list->head_at - list->layout->call_stub_at;
	hints.next = (hints.next + 1) % MAX_HINTS;
	hints.count = MIN(hints.count + 1, MAX_HINTS);
}

static void search(struct stub_list *list)
{
	uint64_t middle = list->layout->call_stub_at & ~(uint64_t)(PAGE_BYTES - 1);
	_cleanup_free_ struct candidates *candidates = NULL;
	unsigned int left = MAX_ADDRESSES;
	bool ends[2] = { false, false }, passes = false;

	list->searched = true;
	if (!middle || !list->layout->wire.call_stub_return || look_where_others_have_it(list))
		return;
	candidates = xmalloc(sizeof(*candidates));
	for (unsigned int i = 0; i <= 2 * MAX_PAGES && left; i++) {
		unsigned int down = i % 2, pages = (i + 1) / 2;
		uint64_t page = middle + (down ? -(uint64_t)pages : pages) * PAGE_BYTES;
		int r;

		if (ends[down])
			continue;
		r = search_page(list, page, candidates, &left);
		if (!r) {
			note_place(list);
			return;
		}
		ends[down] = r != -ENODATA;
		passes |= vm_error_passes(r);
	}
	list->searched = !passes || ++list->tries >= MAX_TRIES;
	forget(list);
}

/* Elements come in front. */
static bool has_grown(const struct stub_list *list, uint64_t *ret_head)
{
	return list->head_at && list->elements < MAX_ELEMENTS &&
	       vm_memory_read_u64(list->memory, list->head_at, ret_head) == 0 &&
	       *ret_head != list->head;
}

const char *stub_list_find(struct stub_list *list, uint64_t address)
{
	const struct stub *stub;
	uint64_t head;

	if (!list->searched)
		search(list);
	stub = innermost(list, address);
	if (!stub && has_grown(list, &head)) {
		read_list(list, head);
		stub = innermost(list, address);
	}
	return stub ? stub->name : NULL;
}
