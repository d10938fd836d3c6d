/* SPDX-License-Identifier: Apache-2.0 */
/* The parsers behind the preflight checks; text in, so that tests need no other kernel. */
#ifndef HOSTPROF_CAPTURE_PREFLIGHT_PREFLIGHT_PARSE_H
#define HOSTPROF_CAPTURE_PREFLIGHT_PREFLIGHT_PARSE_H

#include <stdint.h>

/* "6.18.44-fc": uname's release. -EBADMSG when it does not begin with two numbers. */
int preflight_parse_release(const char *text, unsigned int *ret_major, unsigned int *ret_minor);

/* The CapEff line of /proc/self/status. -ENODATA without one. */
int preflight_parse_capabilities(const char *text, uint64_t *ret_caps);

/* One decimal number and a newline, as sysctl files have it. */
int preflight_parse_long(const char *text, long *ret_value);

/* "none [integrity] confidentiality": the mode in brackets. */
int preflight_parse_lockdown(const char *text, char ret_mode[32]);

#endif
