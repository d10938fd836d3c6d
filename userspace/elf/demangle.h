/* SPDX-License-Identifier: Apache-2.0 */
/* C++ and Rust (legacy and v0) names by libiberty; without parameters' clutter where possible. */
#ifndef HOSTPROF_ELF_DEMANGLE_H
#define HOSTPROF_ELF_DEMANGLE_H

#include <stdbool.h>

/* The readable name; caller frees. NULL when NAME is not mangled (or too long: 4 KiB). */
char *demangle(const char *name, bool *ret_cpp);

#endif
