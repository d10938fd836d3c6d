/* SPDX-License-Identifier: Apache-2.0 */
/* The options about views, which record and report share, and writing a view to where it belongs. */
#ifndef HOSTPROF_CMD_VIEW_FLAGS_H
#define HOSTPROF_CMD_VIEW_FLAGS_H

#include "base/err.h"
#include "base/options.h"
#include "base/out/outfile.h"
#include "output/view.h"

struct view_flags {
	const char *output, *format, *title;
	uint64_t top;
	uint32_t names; /* enum frame_names */
	double min_percent;
	bool threads, annotate, total, lines, all_user, all_kernel, reverse;
};

/* Rows of an option table; FLAGS is a `struct view_flags` of static storage. */
/* clang-format off */
#define VIEW_FLAGS_ROWS(flags) \
	{ OPTION_TYPE_STRING, 'o', "output", "FILE", \
	  "write to FILE; its extension says the format; - is standard output", \
	  &(flags).output, NULL }, \
	{ OPTION_TYPE_STRING, 'f', "format", "FORMAT", \
	  "the format, whatever the file is called (hostprof help formats)", \
	  &(flags).format, NULL }, \
	{ OPTION_TYPE_FLAG, 't', "threads", NULL, "split by thread", &(flags).threads, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "annotate", NULL, \
	  "mark frames: _[k] kernel, _[j] compiled Java, _[i] inlined, _[0] interpreted, _[1] C1", \
	  &(flags).annotate, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "total", NULL, \
	  "count the event's unit (nanoseconds, bytes) and not samples", &(flags).total, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "lines", NULL, "Java frames with line numbers", &(flags).lines, NULL }, \
	{ OPTION_TYPE_STRING, 0, "title", "TEXT", "title of the page", &(flags).title, NULL }, \
	{ OPTION_TYPE_U64, 0, "top", "N", "rows of each text table (default 20)", &(flags).top, NULL }, \
	{ OPTION_TYPE_CALLBACK, 0, "names", "HOW,…", \
	  "simple: classes without packages; normal: hidden classes without numbers; file: native " \
	  "code with its file", \
	  &(flags).names, view_flags_parse_names }, \
	{ OPTION_TYPE_CALLBACK, 0, "min-width", "PERCENT", \
	  "a page or picture leaves out boxes of less than this part", &(flags).min_percent, \
	  view_flags_parse_percent }, \
	{ OPTION_TYPE_FLAG, 0, "reverse", NULL, "a page begins with the leaves and their callers", \
	  &(flags).reverse, NULL }
/* clang-format on */

/* Callbacks of these rows; -EINVAL with a sentence. */
int view_flags_parse_names(const char *arg, void *value, struct err *err);
int view_flags_parse_percent(const char *arg, void *value, struct err *err);

/* What a view needs to know; event is PROFILE_NONE. */
struct view_options view_flags_options(const struct view_flags *flags);

/*
 * The format that the flags ask for: -f, else the extension of the output, else DEFAULT_NAME.
 * -EINVAL with the list of formats when there is none such.
 */
int view_flags_find_format(const struct view_flags *flags, const char *default_name,
			   const struct view_format **ret_format, struct err *err);

/* Write one view into OUT, which is not committed. */
int view_flags_write_to(const struct profile *profile, const struct view_format *format,
			const struct view_options *options, const struct outfile *out,
			struct err *err);

/* Write one view to PATH ("-": standard output), whole or not at all. */
int view_flags_write(const struct profile *profile, const struct view_format *format,
		     const struct view_options *options, const char *path, struct err *err);

#endif
