/* SPDX-License-Identifier: Apache-2.0 */
/* C++ and Rust (legacy and v0) names by libiberty; without parameters' clutter where possible. */
#ifndef HOSTPROF_ELF_DEMANGLE_H
#define HOSTPROF_ELF_DEMANGLE_H

#include <stdbool.h>

/* Longer names are not looked at, and longer texts not made; bytes without the end. */
#define DEMANGLE_MAX_MANGLED 4096
#define DEMANGLE_MAX_NAME    16384

/* The readable name; caller frees. NULL when NAME is not mangled, or too long. In a reader only: names are anybody's. */
char *demangle(const char *name, bool *ret_cpp);

#endif
