/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/record_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/alloc.h"
#include "base/file.h"

#define COPY_BYTES ((size_t)256 << 10)

static char *dated_name(const char *extension)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	char date[32];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);
	strbuf_addf(&name, "hostprof-%s%s", date, extension);
	return strbuf_take(&name);
}

static bool is_stdout(const struct record_output *output)
{
	return !strcmp(output->path, "-");
}

int record_output_init(const struct view_flags *flags, struct record_output *ret_output,
		       struct err *err)
{
	struct record_output output = { .fd = -1, .is_named = flags->output || flags->format };
	int rc = view_flags_find_format(flags, flags->output ? "txt" : "jfr", &output.format, err);

	if (rc)
		return rc;
	if (output.format->binary && flags->output && !strcmp(flags->output, "-") &&
	    isatty(STDOUT_FILENO)) {
		err_set(err, -EINVAL, "%s is not for a terminal", output.format->name);
		return err_hint(err, "give -o FILE");
	}
	output.path = flags->output ? xstrdup(flags->output) : dated_name(output.format->extension);
	*ret_output = output;
	return 0;
}

/* In DIR, without a name. */
static int open_unlinked(const char *dir, int *ret_fd)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0) {
		/* Not every file system has O_TMPFILE. */
		strbuf_addf(&path, "%s/.hostprof-XXXXXX", dir);
		fd = mkostemp(path.buf, O_CLOEXEC);
		if (fd < 0)
			return -errno;
		unlink(path.buf);
	}
	*ret_fd = fd;
	return 0;
}

/* Beside the output, where there must be room anyway; else where temporary files belong. */
static int open_temporary(struct record_output *output, struct err *err)
{
	_cleanup_free_ char *dir = file_directory(output->path);
	const char *tmp = getenv("TMPDIR");
	struct stat st;
	bool regular = !is_stdout(output) && (stat(output->path, &st) < 0 || S_ISREG(st.st_mode));
	int rc;

	if (regular && open_unlinked(dir, &output->fd) == 0)
		return 0;
	tmp = tmp && *tmp ? tmp : "/tmp";
	rc = open_unlinked(tmp, &output->fd);
	if (rc == 0)
		return 0;
	err_sys(err, rc, "cannot create a temporary file in %s", tmp);
	return err_hint(err, "set TMPDIR to a directory with room for the recording");
}

static int open_direct(struct record_output *output, bool exists, struct err *err)
{
	output->fd = open(output->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (output->fd < 0)
		return err_sys(err, -errno, "cannot write %s", output->path);
	output->direct = true;
	output->created = !exists;
	return 0;
}

/* Opened and dropped: nothing is left behind when the run ends before there is a view. */
static int check_writable(const char *path, struct err *err)
{
	struct outfile out;
	int rc = outfile_open(path, &out, err);

	if (!rc)
		outfile_release(&out);
	return rc;
}

int record_output_open(struct record_output *output, struct err *err)
{
	struct stat st;
	bool exists = !is_stdout(output) && stat(output->path, &st) == 0;
	bool in_place = is_stdout(output) || (exists && !S_ISREG(st.st_mode));
	int rc = 0;

	if (!output->format->write && !in_place)
		return open_direct(output, exists, err);
	/* Opening a pipe waits for its reader, so that is left for the end. */
	if (!(exists && S_ISFIFO(st.st_mode)))
		rc = check_writable(output->path, err);
	return rc ? rc : open_temporary(output, err);
}

static int copy_recording(const struct record_output *output, struct err *err)
{
	_cleanup_free_ char *buf = xmalloc(COPY_BYTES);
	struct outfile out;
	off_t at = 0;
	int rc = outfile_open(output->path, &out, err);

	if (rc)
		return rc;
	while (!rc) {
		ssize_t n = pread(output->fd, buf, COPY_BYTES, at);

		if (n <= 0) {
			rc = n < 0 ? err_sys(err, -errno, "cannot read the recording") : 0;
			break;
		}
		at += n;
		rc = file_write_all(out.fd, buf, (size_t)n);
		if (rc)
			err_sys(err, rc, "cannot write %s", out.path);
	}
	if (!rc)
		rc = outfile_commit(&out, err);
	outfile_release(&out);
	return rc;
}

int record_output_write(const struct record_output *output, const struct profile *profile,
			const struct view_options *options, struct err *err)
{
	if (output->direct)
		return 0;
	if (!output->format->write)
		return copy_recording(output, err);
	return view_flags_write(profile, output->format, options, output->path, err);
}

void record_output_drop(struct record_output *output)
{
	/* Emptied it goes with the release. */
	if (ftruncate(output->fd, 0) < 0)
		output->created = false;
}

void record_output_release(struct record_output *output)
{
	struct stat st;

	if (output->direct && output->created && !fstat(output->fd, &st) && !st.st_size)
		unlink(output->path);
	if (output->fd >= 0)
		close(output->fd);
	free(TAKE_PTR(output->path));
	output->fd = -1;
}
