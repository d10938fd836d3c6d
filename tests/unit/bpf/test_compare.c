// SPDX-License-Identifier: Apache-2.0
/*
 * The judge of `make check-differential` on trial: every damage to a list of frames is found, and an
 * excuse holds only where another tool gives it, at the frame that it is about.
 */
#include "test.h"

#include <string.h>

#include "tools/differential/compare.h"
#include "tools/differential/damage.h"

#define FRAMES 9
#define NONE   UINT64_MAX

/* Frame N is at 0x1000 * (N + 1), its call before that; only what is said here is answered yes. */
static struct {
	uint64_t undescribed, end, switching, beginning, restoring;
	uint64_t no_code, no_return;
	const struct frames *second;
} said;

static struct frames ours, reference, second;

static bool describes(void *data, uint64_t address)
{
	(void)data;
	return address != said.undescribed;
}

static bool ends(void *data, uint64_t address)
{
	(void)data;
	return address == said.end;
}

static bool switches(void *data, uint64_t address)
{
	(void)data;
	return address == said.switching;
}

static bool begins(void *data, uint64_t address)
{
	(void)data;
	return address == said.beginning;
}

static bool restores(void *data, uint64_t address)
{
	(void)data;
	return address == said.restoring;
}

static bool is_code(void *data, uint64_t address)
{
	(void)data;
	return address != said.no_code;
}

static bool is_return(void *data, uint64_t address)
{
	(void)data;
	return address % 0x1000 == 0 && address != said.no_return;
}

static bool give_second(void *data, struct frames *ret_frames)
{
	(void)data;
	if (said.second)
		*ret_frames = *said.second;
	return said.second != NULL;
}

static enum verdict judge(void)
{
	static const struct evidence evidence = {
		.describes = describes,
		.ends = ends,
		.switches = switches,
		.begins = begins,
		.restores = restores,
		.is_code = is_code,
		.is_return = is_return,
		.second = give_second,
	};

	return compare_frames(&ours, &reference, &evidence);
}

static uint64_t pc_of(size_t frame)
{
	return 0x1000 * (frame + 1);
}

static void make(struct frames *frames, size_t count)
{
	memset(frames, 0, sizeof(*frames));
	frames->count = count;
	for (size_t i = 0; i < count; i++)
		frames->pcs[i] = pc_of(i);
	frames->exact[0] = true;
}

static int start(void **state)
{
	(void)state;
	memset(&said, 0xff, sizeof(said));
	said.second = NULL;
	make(&ours, FRAMES);
	make(&reference, FRAMES);
	return 0;
}

static void test_equal(void **state)
{
	(void)state;
	assert_int_equal(judge(), VERDICT_EQUAL);
	/* What our own walk says of the copy's end is nothing. */
	ours.cut = true;
	assert_int_equal(judge(), VERDICT_EQUAL);
	reference.cut = true;
	assert_int_equal(judge(), VERDICT_CUT);
}

static void test_nothing(void **state)
{
	(void)state;
	make(&ours, 0);
	make(&reference, 0);
	assert_true(verdict_is_bad(judge()));
}

static void test_damages(void **state)
{
	size_t tried = 0;

	(void)state;
	for (int damage = 0; damage < DAMAGE_COUNT; damage++)
		for (size_t at = 0; at < FRAMES; at++)
			for (int cut = 0; cut < 2; cut++) {
				make(&reference, FRAMES);
				if (!damage_frames(&reference, (enum damage)damage, at, &ours))
					continue;
				/* The reference's end of copy excuses nothing before it. */
				reference.cut = cut;
				if (!verdict_is_bad(judge()))
					fail_msg("%s at %zu is %s", damage_names[damage], at,
						 verdict_names[judge()]);
				tried++;
			}
	assert_in_range(tried, 2 * (DAMAGE_COUNT - 1) * FRAMES, 2 * DAMAGE_COUNT * FRAMES);
}

/* We have KEPT frames of the reference's. */
static void lose_root_side(size_t kept)
{
	make(&ours, kept);
}

static void test_second_unwinder(void **state)
{
	(void)state;
	lose_root_side(5);
	make(&second, 5);
	said.second = &second;
	assert_int_equal(judge(), VERDICT_SECOND);
	/* It has to have all of ours and no more. */
	make(&second, 6);
	assert_true(verdict_is_bad(judge()));
	make(&second, 4);
	assert_true(verdict_is_bad(judge()));
	make(&second, 5);
	second.pcs[2]++;
	assert_true(verdict_is_bad(judge()));
	make(&ours, 0);
	make(&second, 0);
	assert_true(verdict_is_bad(judge()));
}

static void expect_only_at(uint64_t *where, uint64_t right, enum verdict verdict)
{
	for (size_t i = 0; i < FRAMES; i++) {
		*where = pc_of(i) - (i > 0);
		if (*where == right)
			assert_int_equal(judge(), verdict);
		else
			assert_true(verdict_is_bad(judge()));
	}
	/* A return address itself belongs to the next instruction. */
	*where = right + 1;
	assert_true(verdict_is_bad(judge()));
	*where = NONE;
	assert_true(verdict_is_bad(judge()));
}

static void test_end_is_libdws(void **state)
{
	(void)state;
	lose_root_side(5);
	expect_only_at(&said.end, pc_of(4) - 1, VERDICT_END);
	/* No caller there: but we have gone on. */
	make(&ours, FRAMES);
	ours.pcs[5] = 0xbad000;
	said.end = pc_of(4) - 1;
	assert_true(verdict_is_bad(judge()));
}

static void test_top_is_a_symbols(void **state)
{
	(void)state;
	lose_root_side(5);
	expect_only_at(&said.beginning, pc_of(4) - 1, VERDICT_TOP);
}

static void test_nowhere(void **state)
{
	(void)state;
	lose_root_side(FRAMES - 1);
	said.no_code = pc_of(FRAMES - 1);
	assert_int_equal(judge(), VERDICT_NOWHERE);
	/* The frame that is no code must be the reference's last, and our next to be missing. */
	lose_root_side(FRAMES - 2);
	said.no_code = pc_of(FRAMES - 2);
	assert_true(verdict_is_bad(judge()));
	make(&ours, FRAMES);
	ours.pcs[FRAMES - 1] = 0xbad000;
	said.no_code = pc_of(FRAMES - 1);
	assert_true(verdict_is_bad(judge()));
}

static void test_switch(void **state)
{
	(void)state;
	ours.pcs[5] = 0x55000;
	ours.count = 7;
	expect_only_at(&said.switching, pc_of(4) - 1, VERDICT_SWITCH);
	said.switching = pc_of(4) - 1;
	said.no_return = pc_of(6);
	assert_true(verdict_is_bad(judge()));
}

static void test_signal(void **state)
{
	(void)state;
	ours.pcs[5] = 0x55123; /* interrupted, not called */
	expect_only_at(&said.restoring, pc_of(4) - 1, VERDICT_SIGNAL);
	said.restoring = pc_of(4) - 1;
	said.no_return = pc_of(6);
	assert_true(verdict_is_bad(judge()));
}

static void test_reference_is_alone(void **state)
{
	(void)state;
	make(&reference, 5);
	expect_only_at(&said.undescribed, pc_of(4) - 1, VERDICT_ALONE);
	said.undescribed = pc_of(4) - 1;
	said.no_return = pc_of(6);
	assert_true(verdict_is_bad(judge()));
	/* It ended for want of memory: what we have is from memory that there is not. */
	said.no_return = NONE;
	reference.cut = true;
	assert_true(verdict_is_bad(judge()));
}

/* Only the frame behind the undescribed code may be another. */
static void test_no_information(void **state)
{
	(void)state;
	ours.pcs[5] = 0x55000;
	expect_only_at(&said.undescribed, pc_of(4) - 1, VERDICT_NO_CFI);
	said.undescribed = pc_of(4) - 1;
	ours.pcs[6] = 0x66000;
	assert_true(verdict_is_bad(judge()));
	ours.pcs[6] = pc_of(6);
	ours.pcs[5] = 0x55001;
	assert_true(verdict_is_bad(judge()));
	lose_root_side(5);
	assert_true(verdict_is_bad(judge()));
	/* Behind it nothing is left that could be equal. */
	make(&ours, FRAMES);
	ours.pcs[FRAMES - 1] = 0x88000;
	said.undescribed = pc_of(FRAMES - 2) - 1;
	assert_true(verdict_is_bad(judge()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_equal, start),
		cmocka_unit_test_setup(test_nothing, start),
		cmocka_unit_test_setup(test_damages, start),
		cmocka_unit_test_setup(test_second_unwinder, start),
		cmocka_unit_test_setup(test_end_is_libdws, start),
		cmocka_unit_test_setup(test_top_is_a_symbols, start),
		cmocka_unit_test_setup(test_nowhere, start),
		cmocka_unit_test_setup(test_switch, start),
		cmocka_unit_test_setup(test_signal, start),
		cmocka_unit_test_setup(test_reference_is_alone, start),
		cmocka_unit_test_setup(test_no_information, start),
	};

	return cmocka_run_group_tests_name("differential's comparison", tests, NULL, NULL);
}
