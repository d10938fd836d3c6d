/* SPDX-License-Identifier: Apache-2.0 */
/* Which names of methods are kept when there are more than there is room for. */
#include "test.h"

#include <errno.h>

#include "code_fixture.h"
#include "jvm/names/method_chain.h"
#include "jvm/names/method_name.h"

#define METHODS 20000

static struct {
	struct code_fixture code;
	struct method_names *names;
	uint64_t method;
	uint64_t identities[METHODS]; /* that the class has had */
	uint64_t const_method, class_symbol;
} f;

/* Another class in the same place, and what BPF finds of it. */
static uint64_t renew(uint16_t number)
{
	struct method_chain chain;
	int r;

	if (number > 0)
		fake_put_u16(&f.code.fake, f.class_symbol + 2, number);
	free(method_chains_follow(&f.code.fake.memory, &f.code.layout, &f.method, &(bool){ false },
				  1, &chain, &r));
	assert_int_equal(r, 0);
	f.const_method = chain.const_method;
	f.class_symbol = chain.class_symbol;
	return chain.identity;
}

static int find(uint64_t identity)
{
	struct java_frame frame;
	int r = method_names_find(f.names, f.method, f.const_method, identity, 0, &frame);

	if (!r) {
		assert_string_equal(frame.class_name, "pkg.Work");
		assert_string_equal(frame.method, "run");
		assert_string_equal(frame.source, "");
	}
	return r;
}

/* What is asked for stays; of the rest the newest, and none in between is forgotten. */
static void the_least_recently_used_goes(void **state)
{
	unsigned int at, known = 0;

	(void)state;
	code_fixture_init(&f.code, &code_layout_17);
	f.names = method_names_new(&f.code.fake.memory, &f.code.layout);
	f.method = code_fixture_method(&f.code, "pkg/Work", "run");
	for (at = 0; at < METHODS; at++) {
		f.identities[at] = renew((uint16_t)at);
		assert_int_equal(find(f.identities[at]), 0);
		assert_int_equal(find(f.identities[0]), 0);
	}
	memset(f.code.fake.bytes, 0, sizeof(f.code.fake.bytes));
	assert_int_equal(find(f.identities[0]), 0);
	while (--at > 0 && !find(f.identities[at]))
		known++;
	/* 1 MB of some 110 bytes each. */
	assert_true(known > 7000 && known < 15000);
	for (; at > 0; at--)
		assert_int_equal(find(f.identities[at]), -ESTALE);
	method_names_free(f.names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_recently_used_goes),
	};

	return cmocka_run_group_tests_name("method_kept", tests, NULL, NULL);
}
