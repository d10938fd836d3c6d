/* SPDX-License-Identifier: Apache-2.0 */
/* A gzip stream into a FILE, without a time or a name in it: equal input gives equal bytes. */
#ifndef HOSTPROF_OUTPUT_GZIP_H
#define HOSTPROF_OUTPUT_GZIP_H

#include <stdio.h>
#include <zlib.h>

#include "base/err.h"

struct gzip {
	z_stream z;
	FILE *out; /* borrowed; the caller checks ferror() */
};

int gzip_init(struct gzip *gz, FILE *out, struct err *err);
void gzip_write(struct gzip *gz, const void *data, size_t len);
void gzip_finish(struct gzip *gz); /* writes the end */
void gzip_release(struct gzip *gz);

#endif
