/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/log.h"
#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "cmd/view/view_debuginfod.h"
#include "cmd/view_flags.h"
#include "profile/match.h"
#include "recording/recording.h"

static struct view_flags view;
static const char *event_name;
static struct profile_match match;
static bool ask_debuginfod;

static int parse_include(const char *arg, void *value, struct err *err)
{
	(void)value;
	(void)err;
	vec_push(&match.include, arg);
	return 0;
}

static int parse_exclude(const char *arg, void *value, struct err *err)
{
	(void)value;
	(void)err;
	vec_push(&match.exclude, arg);
	return 0;
}

static const struct option_row rows[] = {
	{ OPTION_TYPE_STRING, 0, "event", "NAME", "the event to show (default: the first one)",
	  &event_name, NULL },
	{ OPTION_TYPE_FLAG, 0, "all-user", NULL, "only user frames", &view.all_user, NULL },
	{ OPTION_TYPE_FLAG, 0, "all-kernel", NULL, "only kernel frames", &view.all_kernel, NULL },
	{ OPTION_TYPE_CALLBACK, 0, "include", "PATTERN",
	  "only stacks with a frame of this name; * at its ends is anything; again for more", NULL,
	  parse_include },
	{ OPTION_TYPE_CALLBACK, 0, "exclude", "PATTERN", "only stacks without such a frame", NULL,
	  parse_exclude },
	{ OPTION_TYPE_FLAG, 0, "debuginfod", NULL,
	  "names for files without symbols from the servers of DEBUGINFOD_URLS", &ask_debuginfod,
	  NULL },
	VIEW_FLAGS_ROWS(view),
	OPTION_END,
};

static const struct command_usage usage = {
	.name = "report",
	.synopsis = "IN.jfr [-o OUT] [options]",
	.summary =
		"Make a view of a recording. Without -o it goes to standard output, as text unless -f says otherwise.",
	.epilogue = "Examples:\n"
		    "  hostprof report hostprof.jfr --top 50\n"
		    "  hostprof report hostprof.jfr -o hostprof.html\n"
		    "  hostprof report hostprof.jfr -f collapsed | grep java.util\n",
	.rows = rows,
};

static int read_profile(const char *path, struct profile *profile, struct err *err)
{
	/* Only a part of one stack can be shown (profile/filter.h). */
	const struct recording_read_options options = { .merge = true,
							.no_wakers =
								view.all_user || view.all_kernel,
							.lock_owners = view.lock_owners };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool truncated = false;
	struct err why = { 0 };

	if (fd < 0)
		return err_sys(err, -errno, "cannot open %s", path);
	if (recording_read(fd, &options, profile, &truncated, &why) < 0) {
		err_set(err, why.code, "cannot read %s: %s", path, why.text);
		return err_hint(err, "%s", why.hint);
	}
	if (truncated)
		log_warn("%s ends in the middle; shown is what was written before", path);
	return 0;
}

static int find_event(const struct profile *profile, const char *name, uint32_t *ret_event,
		      struct err *err)
{
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;

	for (uint32_t id = 0; id < intern_len(&profile->events); id++) {
		const char *have =
			profile_get_string(profile, profile_get_event(profile, id)->name);

		if (!strcmp(have, name)) {
			*ret_event = id;
			return 0;
		}
		strbuf_addf(&names, "%s%s", id ? ", " : "", have);
	}
	err_set(err, -ENODATA, "the recording has no event '%s'", name);
	return err_hint(err, "it has: %s", names.len ? names.buf : "none");
}

/* Who fetches holds nothing of the wall's: it is made first. */
static int name_the_rest(struct profile *profile, struct err *err)
{
	struct debuginfod it;
	int r = debuginfod_begin(&it, err);

	if (r < 0)
		return r;
	r = view_debuginfod(profile, &it, err);
	debuginfod_end(&it);
	return r;
}

/* Mistakes on the command line, seen before anything is read. */
static int check_flags(const struct view_format **ret_format, struct err *err)
{
	const struct view_format *format;
	int rc = view_flags_find_format(&view, "txt", &format, err);

	if (rc)
		return rc;
	if (view.all_user && view.all_kernel)
		return err_set(err, -EINVAL, "--all-user does not go with --all-kernel");
	if (!format->write)
		return err_set(err, -EINVAL, "report makes views; it does not write %s",
			       format->name);
	if (format->binary && (!view.output || !strcmp(view.output, "-")) &&
	    isatty(STDOUT_FILENO)) {
		err_set(err, -EINVAL, "%s is not for a terminal", format->name);
		return err_hint(err, "give -o FILE");
	}
	*ret_format = format;
	return 0;
}

int cmd_report(int argc, char **argv)
{
	struct view_options options;
	const struct view_format *format = NULL;
	struct profile profile;
	struct err err = { 0 };
	int rest, rc = cmd_parse(&usage, argc, argv, 1, 1, &rest);

	if (rc != CMD_CONTINUE)
		return rc;
	if (check_flags(&format, &err) < 0)
		return cmd_usage_error(&err);
	options = view_flags_options(&view);
	profile_init(&profile);
	rc = read_profile(argv[rest], &profile, &err);
	if (!rc && event_name)
		rc = find_event(&profile, event_name, &options.event, &err);
	if (!rc && ask_debuginfod)
		rc = name_the_rest(&profile, &err);
	if (!rc) {
		profile_match_apply(&profile, &match);
		view_flags_apply(&view, &profile);
	}
	if (!rc)
		rc = view_flags_write(&profile, format, &options, view.output ? view.output : "-",
				      &err);
	profile_release(&profile);
	if (!rc)
		return CMD_OK;
	log_err(&err);
	return CMD_FAILED;
}
