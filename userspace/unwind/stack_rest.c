// SPDX-License-Identifier: Apache-2.0
#include "unwind/stack_rest.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "process/proc.h"

/* Frames of some thousand calls; more is cut off. */
#define REST_BYTES 262144
#define PAGE_BYTES 4096
/* What the call that crosses the end pushed: return address and frame pointer. */
#define CALL_BYTES 16

struct stack_rest {
	bool tried;
	uint64_t address; /* of data */
	size_t len;	  /* 0: it cannot be had */
	uint64_t count;
	uint8_t data[STACK_REST_COMPARED + REST_BYTES];
};

struct stack_rest *stack_rest_new(void)
{
	return xcalloc(1, sizeof(struct stack_rest));
}

void stack_rest_free(struct stack_rest *rest)
{
	free(rest);
}

void stack_rest_drop(struct stack_rest *rest)
{
	rest->tried = false;
	rest->len = 0;
}

uint64_t stack_rest_count(const struct stack_rest *rest)
{
	return rest->count;
}

static uint64_t copy_end(const struct wire_miss *miss)
{
	return miss->copy_at + miss->copy_bytes;
}

/* Bytes of a page that was not there are made up in bpf/sample/miss/miss_copy.h. */
static bool is_hole(const uint8_t *bytes, size_t len)
{
	return bytes[0] == 0xff && memcmp(bytes, bytes + 1, len - 1) == 0;
}

/* Is the copy the process's own from ADDRESS on? */
static bool has_hole(const struct wire_miss *miss, uint64_t address, size_t len)
{
	while (len) {
		size_t part = PAGE_BYTES - address % PAGE_BYTES;

		part = MIN(part, len);
		if (is_hole(miss->copy + (address - miss->copy_at), part))
			return true;
		address += part;
		len -= part;
	}
	return false;
}

static bool is_same(const struct wire_miss *miss, uint64_t address, size_t len)
{
	uint8_t now[STACK_REST_COMPARED];

	return len <= sizeof(now) && !has_hole(miss, address, len) &&
	       proc_read_memory(miss->tgid, address, now, len) == 0 &&
	       memcmp(now, miss->copy + (address - miss->copy_at), len) == 0;
}

/*
 * A large buffer that nobody writes to stays the same when its frame has returned; the call that
 * leads down from the frame at SP does not.
 */
static bool is_same_call(const struct wire_miss *miss, uint64_t sp)
{
	if (sp < miss->copy_at + CALL_BYTES || sp > copy_end(miss))
		return true;
	return is_same(miss, sp - CALL_BYTES, CALL_BYTES);
}

/*
 * All is compared after it was read: what is still the same then was so all the time. A thread that
 * ended leaves its stack to the next one as it was.
 */
static size_t read_rest(struct stack_rest *rest, const struct wire_miss *miss, uint64_t sp)
{
	ssize_t n = proc_read_pages(miss->tgid, rest->address, rest->data, sizeof(rest->data));
	const uint8_t *known = miss->copy + miss->copy_bytes - STACK_REST_COMPARED;

	if (n <= STACK_REST_COMPARED || memcmp(rest->data, known, STACK_REST_COMPARED) != 0 ||
	    !is_same_call(miss, sp) || !is_same(miss, rest->address, STACK_REST_COMPARED) ||
	    !proc_has_thread(miss->tgid, miss->tid))
		return 0;
	rest->count++;
	return (size_t)n;
}

int stack_rest_read(struct stack_rest *rest, const struct wire_miss *miss, uint64_t sp,
		    uint64_t address, void *dst, size_t len)
{
	uint64_t at;

	if (miss->copy_bytes < STACK_REST_COMPARED || address + len <= copy_end(miss) ||
	    address < copy_end(miss) - STACK_REST_COMPARED ||
	    address - copy_end(miss) + len > REST_BYTES)
		return -ENOENT;
	/* A piece that was read ahead: its words come one by one, and most lie in the copy. */
	if (!rest->tried && address < copy_end(miss) && len >= STACK_REST_COMPARED)
		return -ENOENT;
	if (!rest->tried) {
		rest->tried = true;
		rest->address = copy_end(miss) - STACK_REST_COMPARED;
		rest->len = read_rest(rest, miss, sp);
	}
	at = address - rest->address;
	if (at > rest->len || len > rest->len - at)
		return -ENOENT;
	memcpy(dst, rest->data + at, len);
	return 0;
}
