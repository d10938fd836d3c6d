// SPDX-License-Identifier: Apache-2.0
/*
 * Where runtimes put the container's id into a cgroup path:
 *   /system.slice/docker-ID.scope                                docker, systemd driver
 *   /docker/ID                                                   docker, cgroupfs driver
 *   /kubepods.slice/…/cri-containerd-ID.scope                    containerd under kubelet
 *   /kubepods/burstable/podUID/ID                                the same, cgroupfs driver
 *   /…/kubepods-besteffort-podUID.slice:cri-containerd:ID        containerd without a slice of its own
 *   /kubepods.slice/…/crio-ID.scope, /machine.slice/libpod-ID.scope/container
 * The deepest one counts (a container in a container).
 */
#include <string.h>

#include "base/text/text_cursor.h"
#include "process/proc.h"

#define ID_LEN 64

static bool is_hex(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!text_is_digit(s[i]) && !(s[i] >= 'a' && s[i] <= 'f'))
			return false;
	return true;
}

static bool has_suffix(const char *s, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len >= n && memcmp(s + len - n, suffix, n) == 0;
}

/* The runtime's own helper (conmon) has a scope with the id too, but is outside the container. */
static bool segment_container_id(const char *segment, size_t len, const char **ret_id)
{
	const char *id;

	if (has_suffix(segment, len, ".scope"))
		len -= strlen(".scope");
	if (len < ID_LEN)
		return false;
	id = segment + len - ID_LEN;
	if (!is_hex(id, ID_LEN))
		return false;
	if (id > segment && id[-1] != '-' && id[-1] != ':')
		return false;
	if (has_suffix(segment, (size_t)(id - segment), "conmon-"))
		return false;
	*ret_id = id;
	return true;
}

void container_id_from_cgroup(const char *cgroup_path, char ret_id[65])
{
	const char *end = cgroup_path + strlen(cgroup_path), *id;

	ret_id[0] = '\0';
	while (end > cgroup_path) {
		const char *slash = memrchr(cgroup_path, '/', (size_t)(end - cgroup_path));
		const char *segment = slash ? slash + 1 : cgroup_path;

		if (segment_container_id(segment, (size_t)(end - segment), &id)) {
			memcpy(ret_id, id, ID_LEN);
			ret_id[ID_LEN] = '\0';
			return;
		}
		end = slash ? slash : cgroup_path;
	}
}
