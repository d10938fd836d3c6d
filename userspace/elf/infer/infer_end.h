/* SPDX-License-Identifier: Apache-2.0 */
/* Where a function ends, by its code: for symbols of assembly, which have no size. */
#ifndef HOSTPROF_ELF_INFER_INFER_END_H
#define HOSTPROF_ELF_INFER_INFER_END_H

#include <stddef.h>
#include <stdint.h>

/* No such function is longer. */
#define INFER_END_BYTES 2048

/* The length of the function that CODE begins with: up to the first return or jump that none of its branches leads beyond; 0: it has no end there. */
size_t infer_function_end(const uint8_t *code, size_t len);

#endif
