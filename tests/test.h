/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka needs its includes in this order; tests include this file and nothing of cmocka's. */
#ifndef HOSTPROF_TESTS_TEST_H
#define HOSTPROF_TESTS_TEST_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

/* make check-san */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

#endif
