// SPDX-License-Identifier: Apache-2.0
#include "capture/probes/kprobe.h"

#include <errno.h>
#include <string.h>

#include "base/text/text_cursor.h"
#include "capture/probes/probe_pmu.h"

#define KPROBE_PREFIX "kprobe:"
#define RETURN_PREFIX "kretprobe:"

bool kprobe_is_name(const char *name)
{
	return strncmp(name, KPROBE_PREFIX, strlen(KPROBE_PREFIX)) == 0 ||
	       strncmp(name, RETURN_PREFIX, strlen(RETURN_PREFIX)) == 0;
}

static int kprobe_malformed(const char *name, struct err *err)
{
	err_set(err, -EINVAL, "'%s' does not say which kernel function to probe", name);
	return err_hint(err, "such probes are kprobe:FUNC[+OFFSET] and kretprobe:FUNC, "
			     "as in kprobe:vfs_read");
}

static bool kprobe_split(const char *text, struct kprobe *probe)
{
	/* The compiler's own copies have dots: "f.isra.0", "f.cold". */
	static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_.$";
	size_t len = strspn(text, word);
	struct text_cursor rest = { text + len, text + strlen(text) };

	if (!len || len >= sizeof(probe->function))
		return false;
	memcpy(probe->function, text, len);
	probe->function[len] = '\0';
	if (rest.at == rest.end)
		return true;
	/* "+16" or "+0x10" to the end. */
	return !probe->is_return && text_take_char(&rest, '+') &&
	       text_take_c_number(&rest, &probe->plus) && rest.at == rest.end;
}

static int kprobe_take_pmu(struct kprobe *probe, struct err *err)
{
	if (probe_pmu_find("kprobe", probe->is_return, &probe->type, &probe->config) == 0)
		return 0;
	err_set(err, -EOPNOTSUPP, "this kernel has no kprobes");
	return err_hint(err, "it must be built with CONFIG_KPROBE_EVENTS, as the kernels of "
			     "Debian, Ubuntu and Fedora are");
}

int kprobe_parse(const char *name, struct kprobe *ret_probe, struct err *err)
{
	struct kprobe probe = { .is_return =
					strncmp(name, RETURN_PREFIX, strlen(RETURN_PREFIX)) == 0 };
	int r;

	if (!kprobe_split(strchr(name, ':') + 1, &probe))
		return kprobe_malformed(name, err);
	r = kprobe_take_pmu(&probe, err);
	if (r == 0)
		*ret_probe = probe;
	return r;
}

void kprobe_fill_attr(const struct kprobe *probe, struct perf_event_attr *attr)
{
	attr->type = probe->type;
	attr->config = probe->config;
	attr->kprobe_func = (uintptr_t)probe->function;
	attr->probe_offset = probe->plus;
}
