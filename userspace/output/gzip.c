/* SPDX-License-Identifier: Apache-2.0 */
#include "output/gzip.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/macros.h"

/* zlib.h: 15 is the largest window, 16 more asks for a gzip header. */
#define WINDOW_BITS (15 + 16)
/* Stacks repeat so much that higher levels cost time and save little. */
#define LEVEL	     2
#define MEMORY_LEVEL 8 /* zlib's default */

int gzip_init(struct gzip *gz, FILE *out, struct err *err)
{
	memset(gz, 0, sizeof(*gz));
	gz->out = out;
	if (deflateInit2(&gz->z, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return err_set(err, -ENOMEM, "cannot start a gzip stream");
	return 0;
}

static void pump(struct gzip *gz, int flush)
{
	unsigned char buf[16 * 1024];
	size_t len;

	do {
		gz->z.next_out = buf;
		gz->z.avail_out = sizeof(buf);
		deflate(&gz->z, flush);
		len = sizeof(buf) - gz->z.avail_out;
		fwrite(buf, 1, len, gz->out);
	} while (!gz->z.avail_out);
}

void gzip_write(struct gzip *gz, const void *data, size_t len)
{
	const unsigned char *at = data;

	while (len) {
		uInt part = (uInt)MIN(len, (size_t)1 << 30);

		gz->z.next_in = (z_const Bytef *)(uintptr_t)at;
		gz->z.avail_in = part;
		pump(gz, Z_NO_FLUSH);
		at += part;
		len -= part;
	}
}

void gzip_finish(struct gzip *gz)
{
	gz->z.avail_in = 0;
	pump(gz, Z_FINISH);
}

void gzip_release(struct gzip *gz)
{
	deflateEnd(&gz->z);
}
