/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing protobuf (https://protobuf.dev/programming-guides/encoding/): fields are appended to a
 * buffer, a nested message is made in a buffer of its own first. Zero and empty values are left
 * out, as proto3 does.
 */
#ifndef HOSTPROF_OUTPUT_PPROF_PB_H
#define HOSTPROF_OUTPUT_PPROF_PB_H

#include <stdint.h>

#include "base/strbuf.h"

void pb_add_varint(struct strbuf *out, uint64_t value);

/* int64, uint64, bool and enum fields; negative numbers take ten bytes. */
void pb_add_u64(struct strbuf *out, uint32_t field, uint64_t value);
void pb_add_packed(struct strbuf *out, uint32_t field, const uint64_t *values, size_t len);

/* An element of a repeated field, a nested message or bytes; written also when it is empty. */
void pb_add_element(struct strbuf *out, uint32_t field, const void *data, size_t len);

#endif
