/* SPDX-License-Identifier: Apache-2.0 */
/* Is it what the BPF programs send? -EBADMSG unless these bytes are one whole record whose counts agree with its size. */
#ifndef HOSTPROF_CAPTURE_RINGS_RECORD_CHECK_H
#define HOSTPROF_CAPTURE_RINGS_RECORD_CHECK_H

#include <stddef.h>

int sample_check(const void *data, size_t len);
int miss_check(const void *data, size_t len);
int span_check(const void *data, size_t len);
int lock_begin_check(const void *data, size_t len);
/* The first of several records, whose size is no more than LEN. */
int parked_check(const void *data, size_t len);

#endif
