/* SPDX-License-Identifier: Apache-2.0 */
/* This process's own stack, as BPF would have sent it, and an unwinder. Included once per test. */
#ifndef HOSTPROF_TESTS_UNWINDER_FIXTURE_H
#define HOSTPROF_TESTS_UNWINDER_FIXTURE_H

#include "test.h"

#include <errno.h>
#include <string.h>
#include <ucontext.h>

#include "base/clock.h"
#include "base/file.h"
#include "capture/rings/record_check.h"
#include "capture/rings/rings.h"
#include "heap_tables.h"
#include "maps_text.h"
#include "process/mappings.h"
#include "process/proc.h"
#include "unwind/unwinder.h"

#define KERNEL_WORD 0xffffffff81000000ULL

struct fixture {
	struct table_memory *memory;
	struct image_cache *images;
	struct unwinder *unwinder;
	struct unwind_jvm_source jvms;
	struct wire_jvm jvm; /* what it gives; serial 0: nothing yet */
	unsigned int jvm_reads;
	struct process process; /* this one, as the registry would have it */
	struct wire_miss *miss;
	struct wire_sample *sample;
	uint64_t caller;    /* where the frame of `miss` returns to */
	uint64_t caller_fp; /* %rbp there */
};

static inline uint64_t stack_end(void)
{
	_cleanup_strbuf_ struct strbuf maps = STRBUF_INIT;
	uint64_t here = (uintptr_t)&maps;
	struct maps_line line;
	const char *text;
	ssize_t taken;

	assert_int_equal(file_read("/proc/self/maps", 1 << 20, &maps), 0);
	text = strbuf_str(&maps);
	while ((taken = proc_parse_maps_line(text, maps.len, &line)) > 0) {
		if (line.start <= here && here < line.end)
			return line.end;
		text += taken;
		maps.len -= (size_t)taken;
	}
	fail();
	return 0;
}

static inline void take_registers(struct wire_miss *miss, const ucontext_t *context)
{
	/* by DWARF number: System V ABI, AMD64 supplement, figure 3.36 */
	static const int order[16] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				       REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
				       REG_R12, REG_R13, REG_R14, REG_R15 };

	for (int i = 0; i < 16; i++)
		miss->regs[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	miss->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

/* The stack from here up, and the registers. */
static __attribute__((noinline, unused)) void take_stack(struct fixture *f)
{
	struct wire_miss *miss = f->miss = calloc(1, sizeof(*miss) + WIRE_MISS_MAX_COPY);
	ucontext_t context;

	miss->kind = WIRE_MISS;
	miss->tgid = miss->tid = (uint32_t)getpid();
	miss->leaf = miss->exact = 1;
	miss->time_ns = clock_now_ns();
	f->caller = (uintptr_t)__builtin_return_address(0);
	f->caller_fp = *(uint64_t *)__builtin_frame_address(0);
	assert_int_equal(getcontext(&context), 0);
	take_registers(miss, &context);
	miss->copy_at = miss->regs[DWARF_RSP] - WIRE_MISS_BELOW;
	miss->copy_bytes = (uint32_t)MIN(stack_end() - miss->copy_at, (uint64_t)WIRE_MISS_MAX_COPY);
	/* by way of the kernel: sanitizers do not like what lies between variables */
	assert_int_equal(proc_read_memory(miss->tgid, miss->copy_at, miss->copy, miss->copy_bytes),
			 0);
	miss->size = (uint32_t)sizeof(*miss) + miss->copy_bytes;
}

/* Nothing was walked but one frame of the kernel. */
static inline void make_sample(struct fixture *f)
{
	struct wire_sample *sample = f->sample = calloc(1, sizeof(*sample) + 8);

	sample->size = sizeof(*sample) + 8;
	sample->kind = WIRE_SAMPLE;
	sample->flags = WIRE_SAMPLE_RESUMED;
	sample->reason = UNWIND_NO_ROWS;
	sample->tgid = sample->tid = f->miss->tgid;
	sample->time_ns = f->miss->time_ns;
	sample->start_ns = 1;
	sample->exec_id = 3;
	sample->kernel_frames = 1;
	sample->words[0] = KERNEL_WORD;
}

static inline int read_jvm(uint32_t pid, const struct mapping *libjvm, bool urgent,
			   struct wire_jvm *ret_wire, void *data)
{
	struct fixture *f = data;

	(void)pid;
	(void)libjvm;
	f->jvm_reads += urgent;
	*ret_wire = f->jvm;
	return f->jvm.serial ? 0 : -ENODATA;
}

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_strbuf_ struct strbuf maps = STRBUF_INIT;

	*state = f;
	f->memory = table_memory_new_heap(4096, 1024, 4096);
	f->jvms = (struct unwind_jvm_source){ read_jvm, f };
	f->images = image_cache_new(NULL);
	f->unwinder = unwinder_new(f->memory, f->images, &f->jvms, 1 << 20);
	f->process.pid = (uint32_t)getpid();
	f->process.serial = 1;
	if (file_read("/proc/self/maps", 1 << 20, &maps) < 0)
		return -1;
	mappings_add_text(&f->process, strbuf_str(&maps), maps.len);
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	unwinder_free(f->unwinder);
	image_cache_free(f->images);
	table_memory_free_heap(f->memory);
	mappings_clear(&f->process);
	free(f->miss);
	free(f->sample);
	free(f);
	return 0;
}

static const uint64_t *user_words(const struct wire_sample *sample)
{
	return sample->words + sample->kernel_frames;
}

static inline void check_whole(const struct fixture *f, const struct wire_sample *sample)
{
	assert_non_null(sample);
	assert_int_equal(sample_check(sample, sample->size), 0);
	assert_int_equal(sample->reason, UNWIND_DONE);
	assert_int_equal(sample->flags, 0);
	assert_int_equal(sample->words[0], KERNEL_WORD);
	/* take_stack, the test, cmocka, main, the C library, _start */
	assert_true(sample->user_frames >= 6);
	assert_int_equal(user_words(sample)[0], f->miss->pc | WIRE_FRAME_EXACT);
	assert_int_equal(user_words(sample)[1], f->caller);
}

/* On a busy machine the time for walks is used up sooner. */
static __attribute__((noinline, unused)) struct wire_sample *try(struct fixture *f)
{
	struct wire_sample *sample = unwinder_try(f->unwinder, f->miss, f->sample, 0);

	for (int i = 0; i < 50 && !sample && unwinder_is_busy(f->unwinder); i++) {
		unwinder_grant(f->unwinder);
		sample = unwinder_try(f->unwinder, f->miss, f->sample, 0);
	}
	return sample;
}

static __attribute__((noinline, unused)) struct wire_sample *finish(struct fixture *f)
{
	return unwinder_finish(f->unwinder, f->miss, f->sample, &f->process, 0, false);
}

#endif
