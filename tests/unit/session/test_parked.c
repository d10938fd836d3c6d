// SPDX-License-Identifier: Apache-2.0
/* A thread that was parked as the kernel tells of it: what its walk begins with. The thread's memory is the test's own. */
#include "test.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "session/offcpu/parked.h"

#define KERNEL_FRAMES 2
#define STACK_BYTES   200000

static struct {
	struct wire_parked parked;
	uint64_t words[KERNEL_FRAMES];
} told;

static uint8_t stack[STACK_BYTES];
static uint8_t code[] = { 0x90, 0x0f, 0x05, 0x90 };

static struct wire_parked *fresh(void)
{
	struct wire_parked *parked = &told.parked;

	memset(&told, 0, sizeof(told));
	*parked = (struct wire_parked){ .size = sizeof(told),
					.tgid = (uint32_t)getpid(),
					.tid = 17,
					.exec_id = 3,
					.since_ns = 1000,
					.start_ns = 5,
					.cgroup_id = 99,
					.stack_top = 0x7fff00000000,
					.exec_pages = 12,
					.kernel_frames = KERNEL_FRAMES,
					.state = WIRE_STATE_SLEEPING,
					.cause = WIRE_CAUSE_FUTEX,
					.has_regs = 1,
					.comm = "worker" };
	for (uint64_t i = 0; i < WIRE_PARKED_REGS; i++)
		parked->regs[i] = 100 + i;
	parked->regs[WIRE_PARKED_CS] = 0x33;
	parked->regs[WIRE_PARKED_IP] = (uintptr_t)&code[3];
	parked->regs[WIRE_PARKED_SP] = (uintptr_t)stack + 1000;
	told.words[0] = 0xffffffff81000001;
	told.words[1] = 0xffffffff81000002;
	return parked;
}

static enum unwind_reason reason_of(bool exclude_user)
{
	const struct parked_wanted wanted = { .event = 4, .exclude_user = exclude_user };
	_cleanup_free_ struct wire_sample *sample = parked_sample(&told.parked, &wanted);

	return (enum unwind_reason)sample->reason;
}

static void samples(void **state)
{
	const struct parked_wanted wanted = { .event = 4 };
	_cleanup_free_ struct wire_sample *sample = parked_sample(fresh(), &wanted);

	(void)state;
	assert_int_equal(sample->size, sizeof(*sample) + 16);
	assert_int_equal(sample->kind, WIRE_SAMPLE);
	assert_int_equal(sample->event, 4);
	assert_int_equal(sample->flags, WIRE_SAMPLE_OPEN);
	assert_int_equal(sample->time_ns, 1000);
	assert_int_equal(sample->start_ns, 5);
	assert_int_equal(sample->cgroup_id, 99);
	assert_int_equal(sample->tgid, getpid());
	assert_int_equal(sample->tid, 17);
	assert_int_equal(sample->exec_id, 3);
	assert_int_equal(sample->state, WIRE_STATE_SLEEPING);
	assert_int_equal(sample->cause, WIRE_CAUSE_FUTEX);
	assert_int_equal(sample->kernel_frames, KERNEL_FRAMES);
	assert_memory_equal(sample->words, told.words, sizeof(told.words));
	assert_string_equal(sample->comm, "worker");
	assert_int_equal(sample->user_words, 0);
}

static void reasons(void **state)
{
	(void)state;
	fresh();
	assert_int_equal(reason_of(false), UNWIND_NO_ROWS);
	assert_int_equal(reason_of(true), UNWIND_USER_EXCLUDED);
	told.parked.regs[WIRE_PARKED_CS] = 0x23;
	assert_int_equal(reason_of(false), UNWIND_TASK_32BIT);
	told.parked.regs[WIRE_PARKED_CS] = 0x10;
	assert_int_equal(reason_of(false), UNWIND_NO_REGS);
	fresh()->has_regs = 0;
	assert_int_equal(reason_of(false), UNWIND_NO_REGS);
	told.parked.stack_top = 0;
	assert_int_equal(reason_of(false), UNWIND_NO_STACK);
}

/* As struct pt_regs of the kernel has them, r15 first. */
static void registers(void **state)
{
	_cleanup_free_ struct wire_miss *miss = parked_miss(fresh());

	(void)state;
	assert_int_equal(miss->kind, WIRE_MISS);
	assert_int_equal(miss->leaf, 1);
	assert_int_equal(miss->regs_kept, 1);
	assert_int_equal(miss->time_ns, 1000);
	assert_int_equal(miss->tid, 17);
	assert_int_equal(miss->pc, (uintptr_t)&code[3]);
	assert_int_equal(miss->exec_pages, 12);
	assert_int_equal(miss->stack_top, 0x7fff00000000);
	assert_int_equal(miss->regs[DWARF_R15], 100);
	assert_int_equal(miss->regs[DWARF_R12], 103);
	assert_int_equal(miss->regs[DWARF_RBP], 104);
	assert_int_equal(miss->regs[DWARF_RBX], 105);
	assert_int_equal(miss->regs[DWARF_R8], 109);
	assert_int_equal(miss->regs[DWARF_RAX], 110);
	assert_int_equal(miss->regs[DWARF_RCX], 111);
	assert_int_equal(miss->regs[DWARF_RDX], 112);
	assert_int_equal(miss->regs[DWARF_RSI], 113);
	assert_int_equal(miss->regs[DWARF_RDI], 114);
	assert_int_equal(miss->regs[DWARF_RSP], (uintptr_t)stack + 1000);
}

/* From the red zone on, up to what is there. */
static void copies(void **state)
{
	_cleanup_free_ struct wire_miss *miss = NULL, *none = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = (uint8_t)(i * 7);
	miss = parked_miss(fresh());
	assert_int_equal(miss->copy_at, (uintptr_t)stack + 1000 - WIRE_MISS_BELOW);
	assert_int_equal(miss->copy_bytes, 65536);
	assert_int_equal(miss->size, sizeof(*miss) + miss->copy_bytes);
	assert_memory_equal(miss->copy, stack + 1000 - WIRE_MISS_BELOW, miss->copy_bytes);
	fresh()->regs[WIRE_PARKED_SP] = 4096;
	none = parked_miss(&told.parked);
	assert_int_equal(none->copy_bytes, 0);
	assert_int_equal(none->size, sizeof(*none));
}

static bool is_exact(void)
{
	_cleanup_free_ struct wire_miss *miss = parked_miss(&told.parked);

	return miss->exact;
}

/* Behind a system call pc is where that returns to. */
static void exactness(void **state)
{
	(void)state;
	fresh();
	assert_false(is_exact());
	told.parked.regs[WIRE_PARKED_ORIG_AX] = UINT64_MAX;
	assert_true(is_exact());
	fresh()->regs[WIRE_PARKED_IP] = (uintptr_t)&code[2];
	assert_true(is_exact());
	told.parked.regs[WIRE_PARKED_IP] = 4096;
	assert_true(is_exact());
}

static void take(struct parked *parked, uint32_t tid)
{
	_cleanup_free_ struct wire_parked *thread = parked_take(parked);

	assert_int_equal(thread->tid, tid);
}

/* Who was not taken is freed with the others. */
static void in_turn(void **state)
{
	struct parked parked = { .next = 0 };

	(void)state;
	assert_null(parked_take(&parked));
	parked_put(&parked, fresh());
	told.parked.tid++;
	parked_put(&parked, &told.parked);
	take(&parked, 17);
	take(&parked, 18);
	assert_null(parked_take(&parked));
	parked_put(&parked, &told.parked);
	parked_release(&parked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples), cmocka_unit_test(reasons),	cmocka_unit_test(registers),
		cmocka_unit_test(copies),  cmocka_unit_test(exactness), cmocka_unit_test(in_turn),
	};

	return cmocka_run_group_tests_name("parked", tests, NULL, NULL);
}
