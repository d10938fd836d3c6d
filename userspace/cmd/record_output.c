/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/record_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "cmd/free_name.h"

#define COPY_BYTES ((size_t)256 << 10)
#define PARTIAL	   ".partial"

static char *dated_stem(void)
{
	char name[64];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(name, sizeof(name), "hostprof-%Y%m%d-%H%M%S", &tm);
	return xstrdup(name);
}

static bool is_stdout(const struct record_output *output)
{
	return !strcmp(output->path, "-");
}

int record_output_init(const struct view_flags *flags, struct record_output *ret_output,
		       struct err *err)
{
	struct record_output output = RECORD_OUTPUT_INIT;
	int rc = view_flags_find_format(flags, flags->output ? "txt" : "jfr", &output.format, err);

	if (rc)
		return rc;
	if (output.format->binary && flags->output && !strcmp(flags->output, "-") &&
	    isatty(STDOUT_FILENO)) {
		err_set(err, -EINVAL, "%s is not for a terminal", output.format->name);
		return err_hint(err, "give -o FILE");
	}
	output.is_named = flags->output || flags->format;
	output.has_default = !flags->output;
	output.path = flags->output ? xstrdup(flags->output) : dated_stem();
	*ret_output = output;
	return 0;
}

/* --- the recording beside a view --- */

static int create_partial(const char *path, void *data, struct err *err)
{
	struct record_output *output = data;
	int r = outfile_create(path, &output->file, err);

	if (r == -EEXIST && !output->leftover && free_name_is_leftover(path))
		output->leftover = xstrdup(path);
	return r;
}

/* STEM is the output's path, or what stands for it in a directory for temporary files. */
static int open_partial(struct record_output *output, const char *stem, struct err *err)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	strbuf_addf(&name, "%s%s", stem, PARTIAL);
	return free_name_find(name.buf, ".jfr", create_partial, output, NULL, err);
}

/* BESIDE the output, where there must be room anyway; else where temporary files belong. */
static int open_temporary(struct record_output *output, const char *beside, struct err *err)
{
	_cleanup_strbuf_ struct strbuf stem = STRBUF_INIT;
	const char *tmp = getenv("TMPDIR");
	int r;

	if (beside && open_partial(output, beside, err) == 0)
		return 0;
	tmp = tmp && *tmp ? tmp : "/tmp";
	strbuf_addf(&stem, "%s/hostprof-%u", tmp, geteuid());
	r = open_partial(output, stem.buf, err);
	if (r == 0)
		return 0;
	err_sys(err, r, "cannot create a temporary file in %s", tmp);
	return err_hint(err, "set TMPDIR to a directory with room for the recording");
}

/* --- opening --- */

static int create_direct(const char *path, void *data, struct err *err)
{
	struct record_output *output = data;

	return outfile_create(path, &output->file, err);
}

/* Opened and dropped: nothing is left behind when the run ends before there is a view. */
static int check_new_view(const char *path, void *data, struct err *err)
{
	struct outfile out;
	int r = outfile_open_new(path, &out, err);

	(void)data;
	if (r == 0)
		outfile_release(&out);
	return r;
}

static int open_default(struct record_output *output, struct err *err)
{
	_cleanup_free_ char *stem = TAKE_PTR(output->path);
	int r;

	output->direct = !output->format->write;
	r = free_name_find(stem, output->format->extension,
			   output->direct ? create_direct : check_new_view, output, &output->path,
			   err);
	if (r < 0 || output->direct)
		return r;
	return open_temporary(output, output->path, err);
}

/* Is it a device or a pipe, which gets a copy at the end? */
static bool is_in_place(const struct out_place *place)
{
	return place->is_kernels || (place->exists && !S_ISREG(place->there.st_mode));
}

static int check_view(struct record_output *output, struct err *err)
{
	struct outfile out;
	int r = outfile_open(output->path, &out, err);

	if (r < 0)
		return r;
	r = open_temporary(output, out.temp_name ? out.path : NULL, err);
	outfile_release(&out);
	return r;
}

static int open_named(struct record_output *output, struct err *err)
{
	_cleanup_(out_place_release) struct out_place place = OUT_PLACE_INIT;
	int r = out_place_find(output->path, false, &place, err);

	if (r < 0)
		return r;
	output->direct = !output->format->write && !is_in_place(&place);
	if (output->direct)
		return outfile_open_in_place(output->path, &output->file, err);
	/* Opening a pipe waits for its reader, so that is left for the end. */
	if (place.exists && S_ISFIFO(place.there.st_mode))
		return open_temporary(output, NULL, err);
	return check_view(output, err);
}

int record_output_open(struct record_output *output, struct err *err)
{
	if (output->has_default)
		return open_default(output, err);
	return is_stdout(output) ? open_temporary(output, NULL, err) : open_named(output, err);
}

/* --- writing --- */

static int copy_recording(const struct record_output *output, struct outfile *out, struct err *err)
{
	_cleanup_free_ char *buf = xmalloc(COPY_BYTES);
	off_t at = 0;
	int r = 0;

	while (r == 0) {
		ssize_t n = pread(output->file.fd, buf, COPY_BYTES, at);

		if (n <= 0)
			return n < 0 ? err_sys(err, -errno, "cannot read the recording") : 0;
		at += n;
		r = file_write_all(out->fd, buf, (size_t)n);
	}
	return err_sys(err, r, "cannot write %s", out->path);
}

static int write_other(const struct record_output *output, const struct profile *profile,
		       const struct view_options *options, struct err *err)
{
	struct outfile out;
	int r = output->has_default ? outfile_open_new(output->path, &out, err)
				    : outfile_open(output->path, &out, err);

	if (r < 0)
		return r;
	if (output->format->write)
		r = view_flags_write_to(profile, output->format, options, &out, err);
	else
		r = copy_recording(output, &out, err);
	if (r == 0)
		r = outfile_commit(&out, err);
	outfile_release(&out);
	return r;
}

int record_output_write(struct record_output *output, const struct profile *profile,
			const struct view_options *options, struct err *err)
{
	int r;

	if (output->direct)
		return outfile_commit(&output->file, err);
	r = write_other(output, profile, options, err);
	/* A reader that has gone has what it wanted. */
	if (r < 0 && r != -EPIPE)
		record_output_keep(output, err);
	return r;
}

/* --- what stays --- */

void record_output_keep(struct record_output *output, struct err *err)
{
	struct err ignored;

	outfile_commit(&output->file, &ignored);
	if (err->hint[0])
		return;
	if (output->direct)
		err_hint(err, "what was recorded until then is in %s", output->file.path);
	else
		err_hint(err, "the recording is in %s; hostprof report reads it",
			 output->file.path);
}

void record_output_drop(struct record_output *output)
{
	/* Emptied it goes with the release. */
	if (ftruncate(output->file.fd, 0) < 0)
		output->file.is_new = false;
}

/* One that was committed stays. */
static bool is_unwanted(const struct record_output *output)
{
	struct stat st;

	if (output->file.fd < 0 || !output->file.is_new)
		return false;
	return !output->direct || (!fstat(output->file.fd, &st) && !st.st_size);
}

void record_output_release(struct record_output *output)
{
	if (is_unwanted(output))
		outfile_remove(&output->file);
	outfile_release(&output->file);
	free(TAKE_PTR(output->path));
	free(TAKE_PTR(output->leftover));
}
