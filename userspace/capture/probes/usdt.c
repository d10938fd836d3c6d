// SPDX-License-Identifier: Apache-2.0
#include "capture/probes/usdt.h"

#include <errno.h>
#include <string.h>

#include "capture/events/pmu_field.h"

#define USDT_PREFIX "usdt:"
/* PERF_UPROBE_REF_CTR_OFFSET_SHIFT of kernel/events/core.c, which sysfs says, too. */
#define SEMAPHORE_SHIFT 32

bool usdt_is_name(const char *name)
{
	return strncmp(name, USDT_PREFIX, strlen(USDT_PREFIX)) == 0;
}

static int usdt_malformed(const char *name, struct err *err)
{
	err_set(err, -EINVAL, "'%s' does not say which probe of which file", name);
	return err_hint(err, "such probes are usdt:LIB:PROVIDER:NAME, as in "
			     "usdt:libjvm.so:hotspot:gc__begin; readelf -n LIB shows them");
}

static bool copy_part(char *dst, size_t size, const char *text, const char *end)
{
	size_t len = (size_t)(end - text);

	if (!len || len >= size)
		return false;
	memcpy(dst, text, len);
	dst[len] = '\0';
	return true;
}

/* LIB may hold colons, the others none. */
static bool usdt_split(const char *text, struct usdt *probe)
{
	const char *last = strrchr(text, ':'), *first;

	if (!last)
		return false;
	first = memrchr(text, ':', (size_t)(last - text));
	return first && copy_part(probe->library, sizeof(probe->library), text, first) &&
	       copy_part(probe->provider, sizeof(probe->provider), first + 1, last) &&
	       copy_part(probe->name, sizeof(probe->name), last + 1, last + 1 + strlen(last + 1));
}

/* Linux 4.20 on. */
static int usdt_take_pmu(struct usdt *probe, struct err *err)
{
	struct pmu_field semaphore;

	if (pmu_type("uprobe", &probe->type) == 0 &&
	    pmu_field_find("uprobe", "ref_ctr_offset", &semaphore) == 0 && !semaphore.config &&
	    semaphore.mask == UINT64_MAX << SEMAPHORE_SHIFT)
		return 0;
	err_set(err, -EOPNOTSUPP, "this kernel has no uprobes with semaphores");
	return err_hint(err, "it must be built with CONFIG_UPROBE_EVENTS");
}

int usdt_parse(const char *name, struct usdt *ret_probe, struct err *err)
{
	struct usdt probe = { .count = 0 };
	int r;

	if (!usdt_split(name + strlen(USDT_PREFIX), &probe))
		return usdt_malformed(name, err);
	r = usdt_take_pmu(&probe, err);
	if (r == 0)
		*ret_probe = probe;
	return r;
}

void usdt_fill_attr(const struct usdt *probe, unsigned int number, struct perf_event_attr *attr)
{
	attr->type = probe->type;
	attr->config = probe->places[number].semaphore << SEMAPHORE_SHIFT;
	attr->uprobe_path = (uintptr_t)probe->path;
	attr->probe_offset = probe->places[number].offset;
}
