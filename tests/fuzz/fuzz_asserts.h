/* SPDX-License-Identifier: Apache-2.0 */
/* What fixtures of unit tests ask of cmocka, for fuzzers, which have none: who is wrong aborts. */
#ifndef HOSTPROF_FUZZ_ASSERTS_H
#define HOSTPROF_FUZZ_ASSERTS_H

#include <stdlib.h>

#define assert_true(condition)    \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)
#define assert_int_equal(a, b) assert_true((a) == (b))

#endif
