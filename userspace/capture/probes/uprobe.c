// SPDX-License-Identifier: Apache-2.0
#include "capture/probes/uprobe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text_cursor.h"
#include "capture/probes/probe_pmu.h"

#define UPROBE_PREFIX "uprobe:"
#define RETURN_PREFIX "uretprobe:"

bool uprobe_is_name(const char *name)
{
	return strncmp(name, UPROBE_PREFIX, strlen(UPROBE_PREFIX)) == 0 ||
	       strncmp(name, RETURN_PREFIX, strlen(RETURN_PREFIX)) == 0;
}

static int uprobe_malformed(const char *name, struct err *err)
{
	err_set(err, -EINVAL, "'%s' does not say what to probe", name);
	return err_hint(err, "probes are uprobe:LIB:FUNC[+OFFSET] and uretprobe:LIB:FUNC, "
			     "as in uprobe:libc.so.6:malloc");
}

static bool uprobe_copy(char *dst, size_t size, const char *text, size_t len)
{
	if (len == 0 || len >= size)
		return false;
	memcpy(dst, text, len);
	dst[len] = 0;
	return true;
}

/* "+16" or "+0x10" to the end. */
static bool uprobe_parse_plus(const char *text, uint64_t *ret_plus)
{
	struct text_cursor plus = { text + 1, text + strlen(text) };

	return text_take_c_number(&plus, ret_plus) && plus.at == plus.end;
}

/* LIB may hold colons, a function's name none. */
static bool uprobe_split(const char *text, struct uprobe *probe)
{
	const char *colon = strrchr(text, ':'), *function, *plus;

	if (!colon)
		return false;
	function = colon + 1;
	plus = strchr(function, '+');
	if (plus && (probe->is_return || !uprobe_parse_plus(plus, &probe->plus)))
		return false;
	return uprobe_copy(probe->library, sizeof(probe->library), text, (size_t)(colon - text)) &&
	       uprobe_copy(probe->function, sizeof(probe->function), function,
			   plus ? (size_t)(plus - function) : strlen(function));
}

static int uprobe_take_pmu(struct uprobe *probe, struct err *err)
{
	if (probe_pmu_find("uprobe", probe->is_return, &probe->type, &probe->config) == 0)
		return 0;
	err_set(err, -EOPNOTSUPP, "this kernel has no uprobes");
	return err_hint(err, "it must be built with CONFIG_UPROBE_EVENTS");
}

int uprobe_parse(const char *name, struct uprobe *ret_probe, struct err *err)
{
	struct uprobe probe = { .is_return =
					strncmp(name, RETURN_PREFIX, strlen(RETURN_PREFIX)) == 0 };
	int r;

	if (!uprobe_split(strchr(name, ':') + 1, &probe))
		return uprobe_malformed(name, err);
	r = uprobe_take_pmu(&probe, err);
	if (r == 0)
		*ret_probe = probe;
	return r;
}

int uprobe_at(const char *path, uint64_t offset, bool is_return, struct uprobe *ret_probe,
	      struct err *err)
{
	*ret_probe = (struct uprobe){ .offset = offset, .is_return = is_return };
	snprintf(ret_probe->path, sizeof(ret_probe->path), "%s", path);
	return uprobe_take_pmu(ret_probe, err);
}

void uprobe_fill_attr(const struct uprobe *probe, struct perf_event_attr *attr)
{
	attr->type = probe->type;
	attr->config = probe->config;
	attr->uprobe_path = (uintptr_t)probe->path;
	attr->probe_offset = probe->offset;
}
