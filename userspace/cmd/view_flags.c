/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/view_flags.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "profile/frame_kind.h"
#include "profile/thread_groups.h"

int view_flags_parse_percent(const char *arg, void *value, struct err *err)
{
	char *end;
	double percent = strtod(arg, &end);

	if (end == arg || *end || !(percent >= 0 && percent <= 100))
		return err_set(err, -EINVAL, "--min-width: '%s' is not within 0 to 100", arg);
	*(double *)value = percent;
	return 0;
}

static uint32_t names_of(const struct view_flags *flags)
{
	return (flags->simple ? FRAME_NAMES_SIMPLE : 0) |
	       (flags->no_normalize ? FRAME_NAMES_EXACT : 0) |
	       (flags->libraries ? FRAME_NAMES_FILE : 0) | (flags->bci ? FRAME_NAMES_BCI : 0) |
	       (flags->signatures ? FRAME_NAMES_SIGNATURES : 0);
}

struct view_options view_flags_options(const struct view_flags *flags)
{
	return (struct view_options){
		.title = flags->title,
		.event = PROFILE_NONE,
		.threads = flags->threads,
		.annotate = flags->annotate,
		.total = flags->total,
		.lines = flags->lines,
		.reverse = flags->reverse,
		.names = names_of(flags),
		.min_percent = flags->min_percent,
		.all_kernel = flags->all_kernel,
		.all_user = flags->all_user,
		.top = (uint32_t)MIN(flags->top, (uint64_t)UINT32_MAX),
	};
}

void view_flags_apply(const struct view_flags *flags, struct profile *profile)
{
	if (flags->thread_groups)
		thread_groups_apply(profile);
}

static int no_format(const struct view_flags *flags, struct err *err)
{
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;

	for (const struct view_format *f = view_formats; f->name; f++)
		strbuf_addf(&names, "%s%s", f == view_formats ? "" : ", ",
			    flags->format ? f->name : f->extension);
	if (flags->format)
		err_set(err, -EINVAL, "there is no format '%s'", flags->format);
	else
		err_set(err, -EINVAL, "the name '%s' does not say a format", flags->output);
	return err_hint(err, "%s: %s", flags->format ? "formats" : "give -f FORMAT, or one of",
			strbuf_str(&names));
}

int view_flags_find_format(const struct view_flags *flags, const char *default_name,
			   const struct view_format **ret_format, struct err *err)
{
	const struct view_format *format;

	if (!flags->format && (!flags->output || !strcmp(flags->output, "-")))
		format = view_format_find(default_name, NULL);
	else
		format = view_format_find(flags->format, flags->output);
	if (!format)
		return no_format(flags, err);
	*ret_format = format;
	return 0;
}

/* The stream has a descriptor of its own, so that closing it tells what went wrong. */
int view_flags_write_to(const struct profile *profile, const struct view_format *format,
			const struct view_options *options, const struct outfile *out,
			struct err *err)
{
	int fd = fcntl(out->fd, F_DUPFD_CLOEXEC, 0);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
	int rc, code;

	if (!stream) {
		code = -errno;
		if (fd >= 0)
			close(fd);
		return err_sys(err, code, "cannot write %s", out->path);
	}
	errno = 0;
	rc = format->write(profile, options, stream, err);
	if (!rc && (ferror(stream) || fflush(stream)))
		rc = err_sys(err, errno ? -errno : -EIO, "cannot write %s", out->path);
	if (fclose(stream) && !rc)
		rc = err_sys(err, -errno, "cannot write %s", out->path);
	return rc;
}

int view_flags_write(const struct profile *profile, const struct view_format *format,
		     const struct view_options *options, const char *path, struct err *err)
{
	struct outfile out;
	int rc = outfile_open(path, &out, err);

	if (rc)
		return rc;
	rc = view_flags_write_to(profile, format, options, &out, err);
	if (!rc)
		rc = outfile_commit(&out, err);
	outfile_release(&out);
	return rc;
}
