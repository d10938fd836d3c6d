/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/attach/attach_loaded.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/file.h"
#include "process/proc.h"

#define MAX_MAPS_BYTES (16U << 20)
#define AGENT_PREFIX   "libhostprof-agent"

static const char deleted[] = " (deleted)";

static bool has_suffix(const char *text, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len >= n && !memcmp(text + len - n, suffix, n);
}

/* "/…/libhostprof-agent.so", "/tmp/libhostprof-agent-HASH.so"; *LEN goes without " (deleted)". */
static bool is_agent(const char *path, size_t *len)
{
	const char *slash;

	if (has_suffix(path, *len, deleted))
		*len -= strlen(deleted);
	if (!*len || path[0] != '/' || !has_suffix(path, *len, ".so"))
		return false;
	slash = memrchr(path, '/', *len);
	return *len - (size_t)(slash - path) > strlen("/" AGENT_PREFIX) &&
	       !memcmp(slash, "/" AGENT_PREFIX, strlen("/" AGENT_PREFIX));
}

bool attach_loaded_is_agent(const char *path)
{
	size_t len = strlen(path);

	return is_agent(path, &len);
}

int attach_loaded_parse(const char *maps, size_t len, const char *wanted, char *ret_path,
			size_t size)
{
	struct maps_line line;
	size_t at = 0;
	bool found = false;
	ssize_t n;

	while ((n = proc_parse_maps_line(maps + at, len - at, &line)) > 0) {
		size_t path_len = line.path_len;

		at += (size_t)n;
		if (!is_agent(line.path, &path_len) || path_len >= size)
			continue;
		memcpy(ret_path, line.path, path_len);
		ret_path[path_len] = 0;
		if (!strcmp(ret_path, wanted))
			return 0;
		found = true;
	}
	return found ? 0 : -ENODATA;
}

int attach_loaded_find(uint32_t pid, const char *wanted, char *ret_path, size_t size)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	r = proc_read_file(pid, path, MAX_MAPS_BYTES, &text);
	if (r < 0)
		return r;
	return text.len ? attach_loaded_parse(text.buf, text.len, wanted, ret_path, size)
			: -ENODATA;
}
