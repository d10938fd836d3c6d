/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code that is looked for: generate_cont_thaw() in cpu/x86/stubGenerator_x86_64.cpp, and gen_continuation_yield() in
 * cpu/x86/sharedRuntime_x86_64.cpp, JDK 21 to 28. Both call a function of libjvm with the thread in the first register.
 */
#include "jvm/continuation/jvm_yielding.h"

#include <errno.h>
#include <string.h>

#include "jvm/continuation/jvm_classes.h"
#include "jvm/heap/java_fields.h"
#include "jvm/layout/jvm_blobs.h"

/* The thaw stub ends where the return barrier begins. */
#define THAW_BYTES 160
/* doYield's code is smaller. */
#define MAX_YIELD_BYTES 1024
/* Words of its frame: %rbp and the return address. */
#define YIELD_WORDS 2
/* The call is not farther behind its arguments. */
#define CALL_WITHIN 48

/* Instructions that call a function: call rel32; or mov $address,%r10 and call *%r10. */
#define NEAR_CALL_BYTES 5
#define FAR_CALL_BYTES	13

struct search {
	const struct vm_memory *memory;
	uint64_t start, end; /* libjvm */
	uint64_t found;	     /* 0: nothing */
};

/* --- a call into libjvm ----------------------------------------------------------------------- */

/* Where the LEN bytes of code at ADDRESS call to, 0: they begin with no call. */
static uint64_t read_call(const uint8_t *code, size_t len, uint64_t address)
{
	static const uint8_t load[] = { 0x49, 0xba }, call[] = { 0x41, 0xff, 0xd2 };
	int32_t relative;
	uint64_t target;

	if (len >= NEAR_CALL_BYTES && code[0] == 0xe8) {
		memcpy(&relative, code + 1, sizeof(relative));
		return address + NEAR_CALL_BYTES + (uint64_t)relative;
	}
	if (len < FAR_CALL_BYTES || memcmp(code, load, sizeof(load)) != 0 ||
	    memcmp(code + sizeof(load) + sizeof(target), call, sizeof(call)) != 0)
		return 0;
	memcpy(&target, code + sizeof(load), sizeof(target));
	return target;
}

/* The function of libjvm that is called behind the bytes ARGUMENTS in the CODE at ADDRESS. */
static uint64_t find_call(const struct search *s, const uint8_t *code, size_t len, uint64_t address,
			  const uint8_t *arguments, size_t argument_bytes)
{
	const uint8_t *at = memmem(code, len, arguments, argument_bytes);

	if (!at)
		return 0;
	for (size_t i = (size_t)(at - code) + argument_bytes, last = MIN(len, i + CALL_WITHIN);
	     i < last; i++) {
		uint64_t target = read_call(code + i, len - i, address + i);

		if (target >= s->start && target < s->end)
			return target;
	}
	return 0;
}

static int find_thaw(struct search *s, uint64_t barrier)
{
	/* mov %r15,%rdi; then mov $0,%esi, or of all of it (JDK 21) */
	static const struct {
		uint8_t bytes[10];
		size_t len;
	} arguments[] = {
		{ { 0x49, 0x8b, 0xff, 0xbe, 0, 0, 0, 0 }, 8 },
		{ { 0x49, 0x8b, 0xff, 0x48, 0xc7, 0xc6, 0, 0, 0, 0 }, 10 },
	};

	uint8_t code[THAW_BYTES];
	int r = vm_memory_read(s->memory, barrier - sizeof(code), code, sizeof(code));

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(arguments) && !s->found; i++)
		s->found = find_call(s, code, sizeof(code), barrier - sizeof(code),
				     arguments[i].bytes, arguments[i].len);
	return s->found ? 0 : -EOPNOTSUPP;
}

static bool take_yield(const struct jvm_blob *blob, void *data)
{
	/* mov %r15,%rdi; mov %rsp,%rsi */
	static const uint8_t arguments[] = { 0x49, 0x8b, 0xff, 0x48, 0x8b, 0xf4 };
	struct search *s = data;
	uint8_t code[MAX_YIELD_BYTES];
	uint64_t len = blob->end - blob->code;

	if (strcmp(blob->name, "native nmethod") != 0 || blob->frame_size != YIELD_WORDS)
		return true;
	len = MIN(len, sizeof(code));
	if (vm_memory_read(s->memory, blob->code, code, len) == 0)
		s->found = find_call(s, code, len, blob->code, arguments, sizeof(arguments));
	return !s->found;
}

/*
 * The code is made together with enterSpecial, whose place most JVMs tell: so blobs are walked, of which there are thousands, when there is
 * something to find. False: it is not made yet.
 */
static bool may_be_made(const struct vmstructs *vs)
{
	uint64_t return_pc;

	return vmstructs_static_u64(vs, "ContinuationEntry", "_return_pc", &return_pc) < 0 ||
	       return_pc;
}

/* What ObjectMonitor calls by Continuation::try_preempt() (share/runtime/continuation.cpp), from JDK 24 on. */
static uint64_t read_preempt(const struct vmstructs *vs, uint64_t start, uint64_t end)
{
	uint64_t entry;

	if (vmstructs_static_u64(vs, "Continuation", "freeze_preempt_entry", &entry) < 0)
		return 0;
	return entry >= start && entry < end ? entry : 0;
}

int jvm_yield_code_find(const struct vmstructs *vs, const struct jvm_layout *layout, uint64_t start,
			uint64_t end, struct jvm_yield_code *ret_code)
{
	struct search thaw = { vmstructs_memory(vs), start, end, 0 }, freeze = thaw;
	int r;

	if (!layout->wire.return_barrier)
		return -EOPNOTSUPP;
	if (!may_be_made(vs))
		return -EAGAIN;
	jvm_blobs_walk(vs, layout, 0, take_yield, &freeze);
	if (!freeze.found)
		return -EAGAIN;
	r = find_thaw(&thaw, layout->wire.return_barrier);
	if (r < 0)
		return r;
	*ret_code =
		(struct jvm_yield_code){ freeze.found, thaw.found, read_preempt(vs, start, end) };
	return 0;
}

/* --- which virtual thread it is --------------------------------------------------------------- */

/* Behind the header, where a reference may lie. */
static uint16_t first_reference(const struct java_objects *objects)
{
	uint32_t header = java_objects_header(objects);

	return (uint16_t)(objects->narrow_oops ? header : (header + 7) & ~7U);
}

static int read_classes(const struct vmstructs *vs, const struct jvm_layout *layout,
			struct vm_pages *pages, struct wire_yielding *yielding)
{
	uint64_t continuation;
	uint32_t target;
	int r = jvm_classes_find(vs, layout, pages, "java/lang/VirtualThread", &yielding->klass);

	if (!r)
		r = jvm_classes_find(vs, layout, pages, "jdk/internal/vm/Continuation",
				     &continuation);
	if (!r)
		r = java_fields_find(vs, layout, pages, continuation, "target",
				     "Ljava/lang/Runnable;", &target);
	if (!r)
		yielding->target = (uint16_t)target;
	return r;
}

int jvm_yielding_read(const struct vmstructs *vs, const struct jvm_layout *layout,
		      const struct java_thread_layout *threads, struct wire_yielding *ret_yielding)
{
	_cleanup_(vm_pages_freep) struct vm_pages *pages = vm_pages_new(vmstructs_memory(vs));
	struct wire_yielding yielding = { .entry = layout->wire.thread_cont_entry,
					  .first = first_reference(&threads->objects),
					  .id = (uint16_t)threads->id };
	int r;

	memset(ret_yielding, 0, sizeof(*ret_yielding));
	if (!threads->id || yielding.entry == WIRE_JVM_ABSENT)
		return -EOPNOTSUPP;
	r = read_classes(vs, layout, pages, &yielding);
	if (r < 0)
		return r == -ENODATA ? -EOPNOTSUPP : r;
	*ret_yielding = yielding;
	return 0;
}
