// SPDX-License-Identifier: Apache-2.0
/* What of the kernel's frames is shown, and its variables. */
#include "symbolize_parts.h"

/* Read once, when they are asked for. */
static void variables_of_the_kernel(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parts.data_reads, 0);
	assert_string_equal(symbolizer_variable_of_kernel(f->symbolizer, KERNEL), "variable");
	assert_null(symbolizer_variable_of_kernel(f->symbolizer, KERNEL + 8));
	assert_int_equal(parts.data_reads, 1);
	assert_int_equal(parts.kernel_reads, 0);
}

static void hidden_variables(void **state)
{
	struct fixture *f = *state;

	parts.kernel = -EPERM;
	assert_null(symbolizer_variable_of_kernel(f->symbolizer, KERNEL));
	assert_null(symbolizer_variable_of_kernel(f->symbolizer, KERNEL));
	assert_int_equal(parts.data_reads, 1);
	assert_string_equal(symbolizer_kernel_failure(f->symbolizer), "");
}

#define PLACE(page)  (KERNEL + ((page) << 8))
#define TRACED(page) PLACE(TRACING + (page))

/* The names of a sample of that state and cause with these four frames. */
static const char *names(struct fixture *f, enum wire_state state, enum wire_cause cause,
			 const uint64_t frames[4])
{
	static char found[256];
	struct profile_stack stack;

	set_words(f, frames, NO_USER);
	f->sample.state = (uint8_t)state;
	f->sample.cause = (uint8_t)cause;
	stack = profile_get_stack(&f->profile, stack_id(f));
	found[0] = '\0';
	for (uint32_t i = 0; i < stack.len; i++) {
		uint32_t name = profile_get_frame(&f->profile, stack.frames[i])->name;

		snprintf(found + strlen(found), sizeof(found) - strlen(found), " %s",
			 profile_get_string(&f->profile, name));
	}
	return found;
}

#define NAMES(state, cause, ...) \
	names(f, WIRE_STATE_##state, WIRE_CAUSE_##cause, (const uint64_t[4]){ __VA_ARGS__ })

/* A tracepoint's program and who calls it are ours; of a thread that left its cpu all before the switch. */
static void frames_of_tracing(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(
		NAMES(RUNNING, NONE, TRACED(0), TRACED(1) + 1, TRACED(3) + 1, PLACE(1) + 1),
		" bpf_prog_1_ours bpf_trace_run2 __traceiter_x k1");
	assert_string_equal(
		NAMES(RUNNING, SPINLOCK, TRACED(0), TRACED(1) + 1, TRACED(3) + 1, PLACE(2) + 1),
		" k2");
	assert_string_equal(
		NAMES(RUNNING, SPINLOCK, TRACED(2), TRACED(4) + 1, TRACED(5) + 1, PLACE(1) + 1),
		" __schedule k1");
	assert_string_equal(
		NAMES(RUNNING, SPINLOCK, PLACE(1), TRACED(0) + 1, TRACED(5) + 1, PLACE(2) + 1),
		" k1 bpf_prog_1_ours __schedule k2");
	assert_string_equal(
		NAMES(BLOCKED, MUTEX, TRACED(0), TRACED(1) + 1, PLACE(3) + 1, PLACE(4) + 1),
		" k3 k4");
	assert_string_equal(
		NAMES(BLOCKED, FILE, PLACE(3), TRACED(0) + 1, TRACED(5) + 1, PLACE(2) + 1),
		" __schedule k2");
	assert_string_equal(NAMES(RUNNING, SPINLOCK, TRACED(0), TRACED(1) + 1), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(variables_of_the_kernel),
		TEST(hidden_variables),
		TEST(frames_of_tracing),
	};

	return cmocka_run_group_tests_name("symbolize_kernel", tests, NULL, NULL);
}
