/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/layout/vm_memory.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "wall/wall.h"

#define PAGE_BYTES 4096
/* Tables of 0.2 MB and their strings are read in one sweep; neighbours share pages. */
#define PAGE_SLOTS 64
/* The largest tables, of JDK 17, take 190: who has more of them takes our time. */
#define MAX_FETCHES 2048

static int read_process(const struct vm_memory *memory, const struct vm_span *spans,
			unsigned int count)
{
	struct wall_piece pieces[VM_MEMORY_MAX_SPANS];
	_cleanup_free_ char *data = NULL;
	size_t total = 0;
	int64_t n;

	if (count > VM_MEMORY_MAX_SPANS)
		return -E2BIG;
	for (unsigned int i = 0; i < count; i++) {
		pieces[i] = (struct wall_piece){ spans[i].address, spans[i].len };
		total += spans[i].len;
	}
	if (count == 1) {
		n = wall_read_memory(memory->pid, pieces, 1, spans[0].data);
	} else {
		data = xmalloc(total);
		n = wall_read_memory(memory->pid, pieces, count, data);
	}
	if (n < 0)
		return (int)n;
	if ((size_t)n != total)
		return -EFAULT;
	total = 0;
	for (unsigned int i = 0; data && i < count; i++) {
		memcpy(spans[i].data, data + total, spans[i].len);
		total += spans[i].len;
	}
	return 0;
}

void vm_memory_init_process(struct vm_memory *memory, uint32_t pid)
{
	*memory = (struct vm_memory){ .read = read_process, .pid = pid };
}

int vm_memory_read(const struct vm_memory *memory, uint64_t address, void *data, size_t len)
{
	const struct vm_span span = { address, data, len };

	return memory->read(memory, &span, 1);
}

int vm_memory_read_u64(const struct vm_memory *memory, uint64_t address, uint64_t *ret_value)
{
	uint64_t value;
	int r = vm_memory_read(memory, address, &value, sizeof(value));

	if (r < 0)
		return r;
	*ret_value = value;
	return 0;
}

int vm_memory_read_text(const struct vm_memory *memory, uint64_t address, char *ret_text,
			size_t size)
{
	/* What lies behind its page is read only if it goes on there. */
	size_t max = size - 1, first = MIN(max, PAGE_BYTES - address % PAGE_BYTES);
	int r = vm_memory_read(memory, address, ret_text, first);

	if (r < 0)
		first = 0;
	ret_text[first] = 0;
	if (!r && first < max && strlen(ret_text) == first) {
		r = vm_memory_read(memory, address + first, ret_text + first, max - first);
		ret_text[r < 0 ? first : max] = 0;
	}
	for (char *c = ret_text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return r;
}

struct page {
	uint64_t address; /* 0: empty */
	char data[PAGE_BYTES];
};

/* Direct-mapped by page number. */
struct vm_pages {
	const struct vm_memory *memory; /* borrowed */
	unsigned int fetches;
	struct page pages[PAGE_SLOTS];
};

struct vm_pages *vm_pages_new(const struct vm_memory *memory)
{
	struct vm_pages *pages = xcalloc(1, sizeof(*pages));

	pages->memory = memory;
	return pages;
}

void vm_pages_free(struct vm_pages *pages)
{
	free(pages);
}

static int pages_fetch(struct vm_pages *pages, uint64_t start, const char **ret_data)
{
	struct page *page = &pages->pages[start / PAGE_BYTES % PAGE_SLOTS];
	int r;

	if (!start)
		return -EFAULT;
	if (page->address != start) {
		if (pages->fetches++ >= MAX_FETCHES)
			return -E2BIG;
		page->address = 0;
		r = vm_memory_read(pages->memory, start, page->data, PAGE_BYTES);
		if (r < 0)
			return r;
		page->address = start;
	}
	*ret_data = page->data;
	return 0;
}

int vm_pages_read(struct vm_pages *pages, uint64_t address, void *data, size_t len)
{
	char *out = data;

	while (len) {
		size_t at = address % PAGE_BYTES;
		size_t part = MIN(len, PAGE_BYTES - at);
		const char *page;
		int r = pages_fetch(pages, address - at, &page);

		if (r < 0)
			return r;
		memcpy(out, page + at, part);
		out += part;
		address += part;
		len -= part;
	}
	return 0;
}

int vm_pages_read_string(struct vm_pages *pages, uint64_t address, char *ret_text, size_t size)
{
	size_t len = 0;

	while (len < size) {
		size_t at = address % PAGE_BYTES;
		size_t part = MIN(size - len, PAGE_BYTES - at);
		const char *page, *end;
		int r = pages_fetch(pages, address - at, &page);

		if (r < 0)
			return r;
		end = memchr(page + at, 0, part);
		if (end)
			part = (size_t)(end - (page + at)) + 1;
		memcpy(ret_text + len, page + at, part);
		if (end)
			return 0;
		len += part;
		address += part;
	}
	return -E2BIG;
}
