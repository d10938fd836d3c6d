/* SPDX-License-Identifier: Apache-2.0 */
/* What JFR's tools are told of methods. */
#include "test.h"

#include "profile_fixture.h"
#include "recording/write_pools.h"

static const struct jfr_method *method_of(const struct jfr_pools *pools, uint32_t frame)
{
	return intern_get(&pools->methods, pools->frame_methods.items[frame], NULL);
}

static const char *symbol(const struct jfr_pools *pools, uint32_t id)
{
	return intern_get(&pools->symbols, id, NULL);
}

/* Overloads are two methods; where nothing is known, and of other code, a method has the one that tools expect. */
static void overloads(void **state)
{
	struct jfr_stable stable;
	struct jfr_pools pools;
	struct profile p;
	uint32_t of_int, of_text, again, unknown, native;

	(void)state;
	profile_init(&p);
	of_int = fixture_overload(&p, FRAME_JAVA_JIT, "pkg.A", "go", "(I)V");
	of_text = fixture_overload(&p, FRAME_JAVA_JIT, "pkg.A", "go", "(Ljava/lang/String;)V");
	again = fixture_overload(&p, FRAME_JAVA_INLINED, "pkg.A", "go", "(I)V");
	unknown = fixture_overload(&p, FRAME_JAVA_JIT, "pkg.A", "go", "");
	native = fixture_native(&p, "read");
	jfr_stable_init(&stable);
	jfr_pools_init(&pools, &stable, 1);
	jfr_pools_update(&pools, &p);
	assert_string_equal(symbol(&pools, method_of(&pools, of_int)->descriptor), "(I)V");
	assert_string_equal(symbol(&pools, method_of(&pools, of_text)->descriptor),
			    "(Ljava/lang/String;)V");
	assert_string_equal(symbol(&pools, method_of(&pools, unknown)->descriptor), "()V");
	assert_string_equal(symbol(&pools, method_of(&pools, native)->descriptor), "()V");
	assert_int_equal(method_of(&pools, of_int)->name, method_of(&pools, of_text)->name);
	assert_ptr_equal(method_of(&pools, of_int), method_of(&pools, again));
	assert_int_equal(intern_len(&pools.methods), 4);
	jfr_pools_release(&pools);
	jfr_stable_release(&stable);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overloads),
	};

	return cmocka_run_group_tests_name("recording_methods", tests, NULL, NULL);
}
