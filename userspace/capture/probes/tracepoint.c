// SPDX-License-Identifier: Apache-2.0
#include "capture/probes/tracepoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/strbuf.h"

/* Where it is mounted by itself, and where older systems have it. */
static const char *const tracefs_places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

/* Letters, digits and underscores: nothing that leads elsewhere in the tree. */
static bool is_word(const char *text, size_t len)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-";

	return len > 0 && strspn(text, allowed) >= len;
}

static int tracepoint_malformed(const char *name, struct err *err)
{
	err_set(err, -EINVAL, "'%s' is no tracepoint's name", name);
	return err_hint(err, "tracepoints are GROUP:NAME, as in sched:sched_switch");
}

static const char *tracefs_find(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(tracefs_places); i++) {
		_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

		strbuf_addf(&path, "%s/events", tracefs_places[i]);
		if (access(strbuf_str(&path), F_OK) == 0 || errno == EACCES)
			return tracefs_places[i];
	}
	return NULL;
}

static int tracepoint_read_id(const char *tracefs, const char *name, size_t group_len,
			      uint64_t *ret_id)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT, text = STRBUF_INIT;
	int r;

	strbuf_addf(&path, "%s/events/%.*s/%s/id", tracefs, (int)group_len, name,
		    name + group_len + 1);
	r = file_read(strbuf_str(&path), 64, &text);
	if (r < 0)
		return r;
	*ret_id = strtoull(strbuf_str(&text), NULL, 10);
	return *ret_id ? 0 : -ENOENT;
}

int tracepoint_parse(const char *name, uint64_t *ret_number, struct err *err)
{
	size_t group_len = strcspn(name, ":");
	const char *its_name = name + group_len + 1, *tracefs;
	int r;

	if (!is_word(name, group_len) || !is_word(its_name, strlen(its_name)))
		return tracepoint_malformed(name, err);
	tracefs = tracefs_find();
	if (!tracefs) {
		err_set(err, -ENOENT, "cannot look up tracepoint '%s': tracefs is not mounted",
			name);
		return err_hint(err, "mount -t tracefs tracefs %s", tracefs_places[0]);
	}
	r = tracepoint_read_id(tracefs, name, group_len, ret_number);
	if (r == -EACCES) {
		err_set(err, r, "tracepoint '%s': %s may not be read", name, tracefs);
		return err_hint(err, "run as root, or let this user read it");
	}
	if (r < 0) {
		err_set(err, -ENOENT, "there is no tracepoint '%s'", name);
		return err_hint(err, "%s/events lists groups and names", tracefs);
	}
	return 0;
}
