/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/record_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/out/outfile.h"
#include "base/units.h"
#include "sink/stream_sink.h"

static int open_number(const char *target, int number, int *ret_fd, struct err *err)
{
	int fd = fcntl(number, F_DUPFD_CLOEXEC, 3);

	if (fd < 0) {
		err_sys(err, -errno, "cannot write the stream to %s", target);
		return err_hint(err, "./%s is the file of this name", target);
	}
	*ret_fd = fd;
	return 0;
}

static int open_target(const char *target, int *ret_fd, struct err *err)
{
	struct outfile out = OUTFILE_INIT;
	uint64_t number;
	int r;

	if (units_parse_u64(target, &number) == 0 && number <= INT_MAX)
		return open_number(target, (int)number, ret_fd, err);
	r = outfile_open_in_place(target, &out, err);
	if (r == 0)
		*ret_fd = TAKE_FD(out.fd);
	else if (!err->hint[0])
		err_sys(err, r, "cannot write the stream to %s", target);
	outfile_release(&out);
	return r;
}

static int record_stream_open(const char *target, struct sink *ret_sink, struct err *err)
{
	struct stream_options options = { .fd = -1 };
	struct stream *stream;
	int rc = open_target(target, &options.fd, err);

	if (rc < 0)
		return rc;
	rc = stream_new(&options, &stream, err);
	close(options.fd);
	if (rc == 0)
		*ret_sink = stream_sink(stream);
	return rc;
}

/* A reader that has gone is the reader's business, as in a pipe. */
static void record_stream_tell(const char *target, const void *self)
{
	int failure = stream_failure(self);

	if (failure && failure != -EPIPE)
		log_warn("%s: the stream ended early: %s", target, strerror(-failure));
	if (stream_lost_lines(self))
		log_info("%s: its reader was too slow for %llu lines", target,
			 (unsigned long long)stream_lost_lines(self));
}

static void record_stream_free(void *self)
{
	stream_free(self);
}

struct sink_option record_stream = {
	.open = record_stream_open,
	.tell = record_stream_tell,
	.free = record_stream_free,
};
