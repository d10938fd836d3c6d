// SPDX-License-Identifier: Apache-2.0
#include "capture/cpu_list.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text/text_cursor.h"

void cpu_list_release(struct cpu_list *list)
{
	free(list->has);
	*list = (struct cpu_list){ 0 };
}

static void cpu_list_add(struct cpu_list *list, unsigned int first, unsigned int last)
{
	if (last >= list->size) {
		list->has = xrealloc(list->has, (last + 1) * sizeof(*list->has));
		memset(list->has + list->size, 0, (last + 1 - list->size) * sizeof(*list->has));
		list->size = last + 1;
	}
	for (unsigned int cpu = first; cpu <= last; cpu++)
		list->has[cpu] = true;
}

static int cpu_list_number(const char **at, const char *end, unsigned int *ret_number)
{
	const char *p = *at;
	unsigned int n = 0;

	if (p == end || !text_is_digit(*p))
		return -EBADMSG;
	for (; p < end && text_is_digit(*p); p++) {
		n = n * 10 + (unsigned int)(*p - '0');
		if (n >= CPU_LIST_MAX)
			return -E2BIG;
	}
	*at = p;
	*ret_number = n;
	return 0;
}

static int cpu_list_range(const char **at, const char *end, struct cpu_list *list)
{
	unsigned int first, last;
	int r = cpu_list_number(at, end, &first);

	if (r < 0)
		return r;
	last = first;
	if (*at < end && **at == '-') {
		(*at)++;
		r = cpu_list_number(at, end, &last);
		if (r < 0)
			return r;
	}
	if (last < first)
		return -EBADMSG;
	cpu_list_add(list, first, last);
	return 0;
}

int cpu_list_parse(const char *text, size_t len, struct cpu_list *ret_list)
{
	_cleanup_(cpu_list_release) struct cpu_list list = { 0 };
	const char *at = text, *end = text + len;

	while (end > at && end[-1] == '\n')
		end--;
	for (;;) {
		int r = cpu_list_range(&at, end, &list);

		if (r < 0)
			return r;
		if (at == end)
			break;
		if (*at++ != ',')
			return -EBADMSG;
	}
	*ret_list = list;
	list = (struct cpu_list){ 0 };
	return 0;
}

static int cpu_list_read(const char *path, struct cpu_list *ret_list)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = file_read_at_once(path, 65536, &text);

	if (r < 0)
		return r;
	return cpu_list_parse(strbuf_str(&text), text.len, ret_list);
}

int cpu_list_read_online(struct cpu_list *ret_list)
{
	return cpu_list_read("/sys/devices/system/cpu/online", ret_list);
}

int cpu_list_read_possible(struct cpu_list *ret_list)
{
	return cpu_list_read("/sys/devices/system/cpu/possible", ret_list);
}
