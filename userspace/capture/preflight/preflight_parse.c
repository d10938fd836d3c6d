// SPDX-License-Identifier: Apache-2.0
#include "capture/preflight/preflight_parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int preflight_parse_release(const char *text, unsigned int *ret_major, unsigned int *ret_minor)
{
	char *end;
	unsigned long major, minor;

	if (!isdigit((unsigned char)text[0]))
		return -EBADMSG;
	major = strtoul(text, &end, 10);
	if (end[0] != '.' || !isdigit((unsigned char)end[1]))
		return -EBADMSG;
	minor = strtoul(end + 1, NULL, 10);
	*ret_major = (unsigned int)major;
	*ret_minor = (unsigned int)minor;
	return 0;
}

int preflight_parse_capabilities(const char *text, uint64_t *ret_caps)
{
	static const char key[] = "\nCapEff:\t";
	const char *line = strstr(text, key);
	char *end;
	uint64_t caps;

	if (!line)
		return -ENODATA;
	line += sizeof(key) - 1;
	errno = 0;
	caps = strtoull(line, &end, 16);
	if (errno || end == line || *end != '\n')
		return -EBADMSG;
	*ret_caps = caps;
	return 0;
}

int preflight_parse_long(const char *text, long *ret_value)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || (*end && *end != '\n'))
		return -EBADMSG;
	*ret_value = value;
	return 0;
}

int preflight_parse_lockdown(const char *text, char ret_mode[32])
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
	size_t len;

	if (!close)
		return -EBADMSG;
	len = (size_t)(close - open - 1);
	if (len == 0 || len >= 32)
		return -EBADMSG;
	memcpy(ret_mode, open + 1, len);
	ret_mode[len] = 0;
	return 0;
}
