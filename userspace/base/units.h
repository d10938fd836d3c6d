/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as people type and read them. Parsers take the whole string or say -EINVAL. */
#ifndef HOSTPROF_BASE_UNITS_H
#define HOSTPROF_BASE_UNITS_H

#include <stdint.h>

#include "base/strbuf.h"

int units_parse_u64(const char *s, uint64_t *ret_value);

/* "10", "1.5s", "30s", "5m", "2h", "10ms", "20us", "7ns"; a bare number is seconds. */
int units_parse_duration(const char *s, uint64_t *ret_ns);

/* "512k", "64M", "1G", "4096"; powers of 1024. */
int units_parse_bytes(const char *s, uint64_t *ret_bytes);

/* "1000000", "100k", "1.5M", "1G"; powers of 1000. */
int units_parse_count(const char *s, uint64_t *ret_count);

void units_format_bytes(struct strbuf *sb, uint64_t bytes); /* "1.5 MB" */
void units_format_duration(struct strbuf *sb, uint64_t ns); /* "12.3 s", "45 ms" */
void units_format_count(struct strbuf *sb, uint64_t n);	    /* "12,345,678" */
void units_format_value(struct strbuf *sb, uint64_t value,
			const char *unit); /* by "nanoseconds", "bytes", "count" */

#endif
