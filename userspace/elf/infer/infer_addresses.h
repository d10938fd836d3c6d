/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses in rising order. */
#ifndef HOSTPROF_ELF_INFER_INFER_ADDRESSES_H
#define HOSTPROF_ELF_INFER_INFER_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>

void infer_addresses_sort(uint64_t *addresses, size_t count);
/* The index of the first that is not below ADDRESS. */
size_t infer_addresses_find(const uint64_t *addresses, size_t count, uint64_t address);

#endif
