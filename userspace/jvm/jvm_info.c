/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/jvm_info.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/vec.h"
#include "codemap.h"
#include "jvm/attach/attach.h"
#include "jvm/attach/attach_check.h"
#include "jvm/attach/attach_reach.h"
#include "jvm/codemap/codemap_find.h"
#include "jvm/java_command.h"
#include "jvm/jvm_kind.h"
#include "jvm/layout/vm_flags.h"
#include "jvm/layout/vmstructs.h"
#include "process/proc.h"

/* A lease longer than this was not written by a hostprof. */
#define MAX_LEASE_NS (10 * CODEMAP_LEASE_NS)
/* For a look at a JVM's directories. */
#define FILES_TIMEOUT_NS (2 * NSEC_PER_SEC)

static void read_user(struct jvm_info *info)
{
	struct passwd entry, *found = NULL;
	char buffer[4096];

	/* A container's user need not exist here: then the number has to do. */
	if (getpwuid_r(info->uid, &entry, buffer, sizeof(buffer), &found) == 0 && found)
		snprintf(info->user, sizeof(info->user), "%s", found->pw_name);
	else
		snprintf(info->user, sizeof(info->user), "%u", info->uid);
}

static void read_container(struct jvm_info *info)
{
	_cleanup_free_ char *path = NULL;

	struct container_names names = { .root = "" };

	if (proc_read_cgroup(info->pid, &path) == 0)
		container_id_from_cgroup(path, info->container_id);
	if (info->container_id[0])
		info->container = *container_names_find(&names, info->container_id);
	container_names_release(&names);
}

static bool is_leased(const struct codemap_header *header, uint32_t pid)
{
	int64_t now = (int64_t)clock_now_ns() + codemap_clock_offset_ns(pid);
	int64_t left = (int64_t)(header->lease_until_ns - (uint64_t)now);

	return left > 0 && left <= (int64_t)MAX_LEASE_NS;
}

/* The header is a copy: what the JVM writes meanwhile cannot change under us. */
static void read_agent(struct jvm_info *info)
{
	struct codemap_header header;
	struct err err = { 0 };
	_cleanup_close_ int fd = codemap_find_fd(info->pid, &err);

	info->agent = JVM_AGENT_NONE;
	if (fd < 0 || file_pread_full(fd, &header, sizeof(header), 0) < 0 ||
	    header.magic != CODEMAP_MAGIC || header.closed_ns)
		return;
	info->agent = JVM_AGENT_IDLE;
	info->agent_bytes = header.agent_bytes;
	info->agent_dropped = header.dropped;
	if (is_leased(&header, info->pid)) {
		info->agent = JVM_AGENT_ACTIVE;
		info->agent_lease_pid = header.lease_pid;
	}
}

static void set_why_not(struct jvm_info *info, const struct err *err)
{
	const char *separator = err->hint[0] ? "; " : "";

	info->can_attach = false;
	if (snprintf(info->why_not, sizeof(info->why_not), "%s%s%s", err->text, separator,
		     err->hint) >= (int)sizeof(info->why_not))
		snprintf(info->why_not, sizeof(info->why_not), "%.255s", err->text);
}

static void read_attachable(struct jvm_info *info, const struct vmstructs *vs)
{
	_cleanup_(attach_target_close) struct attach_target target = ATTACH_TARGET_INIT;
	struct err err = { 0 }, no_agent = { 0 };
	char agent[PATH_MAX];
	int r = attach_check_open(info->pid, vs, &target, &err);

	/* One without an agent of ours may be given one by its path. */
	if (!r && attach_find_agent(agent, sizeof(agent), &no_agent) < 0)
		agent[0] = '\0';
	if (!r)
		r = attach_reach_check(&target, agent, clock_now_ns() + FILES_TIMEOUT_NS, &err);
	info->can_attach = r >= 0;
	if (r < 0)
		set_why_not(info, &err);
}

static void read_hotspot(struct jvm_info *info, const struct vmstructs *vs)
{
	if (vm_version_read(vs, info->version, sizeof(info->version)) < 0)
		info->version[0] = 0;
	java_command_main_class(info->pid, vs, info->main_class, sizeof(info->main_class));
	jvm_lacks_read(vs, &info->lacks);
	read_attachable(info, vs);
	read_agent(info);
}

/* A HotSpot that cannot be read (yet), or OpenJ9: what the outside of the process tells. */
static void read_opaque(struct jvm_info *info, const struct err *why)
{
	java_command_main_class(info->pid, NULL, info->main_class, sizeof(info->main_class));
	jvm_lacks_all(why, &info->lacks);
	set_why_not(info, why);
	read_agent(info);
}

/* vmstructs_open() failed with R: still a row, when the process is some JVM. */
static int read_without_vm(struct jvm_info *info, int r, struct err *err)
{
	enum jvm_kind kind = jvm_kind_of_process(info->pid);

	if (kind == JVM_KIND_OPENJ9) {
		snprintf(info->version, sizeof(info->version), "OpenJ9");
		err_set(err, -EOPNOTSUPP, "OpenJ9: only native frames can be shown");
	} else if (kind == JVM_KIND_NONE || r == -ENODATA || r == -ESRCH) {
		if (r == -ENODATA && jvm_kind_of_executable(info->pid) == JVM_KIND_NATIVE_IMAGE)
			err_set(err, r, "process %u is a GraalVM native image, no JVM", info->pid);
		return r;
	}
	read_opaque(info, err);
	return 0;
}

static int info_read(struct vmstructs_cache *cache, uint32_t pid, struct jvm_info *ret_info,
		     struct err *err)
{
	_cleanup_(vmstructs_closep) struct vmstructs *vs = NULL;
	struct jvm_info info = { .pid = pid };
	struct proc_status status;
	int r;

	if (proc_read_status(pid, &status) < 0)
		return err_set(err, -ESRCH, "there is no process %u", pid);
	info.uid = status.uid;
	info.ns_pid = status.ns_pid;
	read_user(&info);
	read_container(&info);
	r = vmstructs_open(cache, pid, NULL, &vs, err);
	if (!r)
		read_hotspot(&info, vs);
	else
		r = read_without_vm(&info, r, err);
	if (r < 0)
		return r;
	*ret_info = info;
	return 0;
}

int jvm_info_read(uint32_t pid, struct jvm_info *ret_info, struct err *err)
{
	return info_read(NULL, pid, ret_info, err);
}

struct listing {
	struct vmstructs_cache *cache;
	VEC(struct jvm_info) infos;
};

static int list_process(uint32_t pid, void *data)
{
	struct listing *listing = data;
	struct jvm_info info;
	struct err err = { 0 };

	/* Most processes are no JVMs and end here. */
	if (jvm_kind_of_process(pid) != JVM_KIND_NONE &&
	    info_read(listing->cache, pid, &info, &err) == 0)
		vec_push(&listing->infos, info);
	return 0;
}

static int compare_pids(const void *a, const void *b)
{
	const struct jvm_info *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int jvm_info_list(struct jvm_info **ret_infos, unsigned int *ret_count, struct err *err)
{
	_cleanup_(vmstructs_cache_freep) struct vmstructs_cache *cache = vmstructs_cache_new();
	struct listing listing = { .cache = cache };
	int r = proc_for_each_pid(list_process, &listing);

	if (r < 0) {
		vec_release(&listing.infos);
		return err_sys(err, r, "cannot read /proc");
	}
	if (listing.infos.len)
		qsort(listing.infos.items, listing.infos.len, sizeof(*listing.infos.items),
		      compare_pids);
	*ret_infos = listing.infos.items;
	*ret_count = (unsigned int)listing.infos.len;
	return 0;
}
