/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/layout/vm_flags.h"

#include <errno.h>
#include <string.h>

/* JDK 11 debug builds have 1,600 flags; product builds 1,000 to 1,450. */
#define MAX_FLAGS 8192
/* sizeof(JVMFlag) is 24 to 40. */
#define MAX_FLAG_BYTES 256
#define MAX_FLAG_NAME  96
/* HotSpot's own numbering ended with 25, which is JDK 8; its successor took the JDK's number. */
#define LAST_HOTSPOT_NUMBER 25

static const struct {
	const char *name;
	size_t slot; /* offset in struct vm_flags */
} wanted_flags[] = {
	{ "DisableAttachMechanism", offsetof(struct vm_flags, disable_attach_mechanism) },
	{ "ReduceSignalUsage", offsetof(struct vm_flags, reduce_signal_usage) },
	{ "EnableDynamicAgentLoading", offsetof(struct vm_flags, enable_dynamic_agent_loading) },
	{ "UseZGC", offsetof(struct vm_flags, use_z) },
	{ "UseShenandoahGC", offsetof(struct vm_flags, use_shenandoah) },
	{ "UseCompressedOops", offsetof(struct vm_flags, use_compressed_oops) },
	{ "UseCompressedClassPointers", offsetof(struct vm_flags, use_compressed_class_pointers) },
	{ "UseCompactObjectHeaders", offsetof(struct vm_flags, use_compact_object_headers) },
};

/* The array of flags: JVMFlag since JDK 10, Flag before. */
struct flag_table {
	const char *type;
	uint64_t start, count, stride;
	uint64_t name, address; /* offsets in an entry */
};

static int flag_table_find(const struct vmstructs *vs, struct flag_table *t)
{
	int r;

	t->type = "JVMFlag";
	if (vmstructs_sizeof(vs, t->type, &t->stride) < 0)
		t->type = "Flag";
	r = vmstructs_sizeof(vs, t->type, &t->stride);
	if (!r)
		r = vmstructs_field_offset(vs, t->type, "_name", &t->name);
	if (!r)
		r = vmstructs_field_offset(vs, t->type, "_addr", &t->address);
	if (!r)
		r = vmstructs_static_u64(vs, t->type, "flags", &t->start);
	if (!r)
		r = vmstructs_static_u64(vs, t->type, "numFlags", &t->count);
	if (r < 0)
		return r;
	if (t->count > MAX_FLAGS || t->stride > MAX_FLAG_BYTES || t->stride < 16 ||
	    t->name > t->stride - 8 || t->address > t->stride - 8)
		return -EBADMSG;
	return 0;
}

/* Where the value of the flag called NAME goes, or NULL. */
static int8_t *flag_slot(struct vm_flags *flags, const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(wanted_flags); i++)
		if (!strcmp(name, wanted_flags[i].name))
			return (int8_t *)((char *)flags + wanted_flags[i].slot);
	return NULL;
}

static int flag_read(struct vm_pages *pages, const struct flag_table *t, const uint8_t *entry,
		     struct vm_flags *flags)
{
	char name[MAX_FLAG_NAME];
	uint64_t name_at, value_at;
	uint8_t value;
	int8_t *slot;
	int r;

	memcpy(&name_at, entry + t->name, sizeof(name_at));
	memcpy(&value_at, entry + t->address, sizeof(value_at));
	if (!name_at || !value_at)
		return 0; /* the array ends with an empty entry */
	r = vm_pages_read_string(pages, name_at, name, sizeof(name));
	if (r < 0)
		return r == -E2BIG ? 0 : r;
	slot = flag_slot(flags, name);
	if (!slot)
		return 0;
	r = vm_pages_read(pages, value_at, &value, sizeof(value));
	if (r < 0)
		return r;
	*slot = value != 0;
	return 0;
}

int vm_flags_read(const struct vmstructs *vs, struct vm_flags *ret_flags)
{
	_cleanup_(vm_pages_freep) struct vm_pages *pages = vm_pages_new(vmstructs_memory(vs));
	struct vm_flags flags;
	uint8_t entry[MAX_FLAG_BYTES];
	struct flag_table table;
	int r = flag_table_find(vs, &table);

	memset(&flags, -1, sizeof(flags));
	for (uint64_t i = 0; !r && i < table.count; i++) {
		r = vm_pages_read(pages, table.start + i * table.stride, entry, table.stride);
		if (!r)
			r = flag_read(pages, &table, entry, &flags);
	}
	if (r < 0)
		return r;
	*ret_flags = flags;
	return 0;
}

uint32_t vm_version_feature(const struct vmstructs *vs)
{
	uint64_t address, size;
	int32_t major;

	if (vmstructs_static(vs, "Abstract_VM_Version", "_vm_major_version", &address) < 0 ||
	    vm_memory_read(vmstructs_memory(vs), address, &major, sizeof(major)) < 0)
		return 0;
	/* Only JDK 9 and older have a type Flag. */
	if (vmstructs_sizeof(vs, "Flag", &size) == 0 && major <= LAST_HOTSPOT_NUMBER && major > 9)
		return 8;
	return major > 0 && major < 1000 ? (uint32_t)major : 0;
}

static int read_static_string(const struct vmstructs *vs, const char *field, char *ret_text,
			      size_t size)
{
	_cleanup_(vm_pages_freep) struct vm_pages *pages = vm_pages_new(vmstructs_memory(vs));
	uint64_t address;
	int r = vmstructs_static_u64(vs, "Abstract_VM_Version", field, &address);

	return r < 0 ? r : vm_pages_read_string(pages, address, ret_text, size);
}

/* "OpenJDK 64-Bit Server VM (25.504-b01) for linux-amd64 JRE (1.8.0_504-b01), …" */
static int read_jre_version(const struct vmstructs *vs, char *ret_version, size_t size)
{
	char info[1024], *start, *end;
	int r = read_static_string(vs, "_s_internal_vm_info_string", info, sizeof(info));

	if (r < 0)
		return r;
	start = strstr(info, "JRE (");
	end = start ? strchr(start, ')') : NULL;
	if (!end)
		return -ENODATA;
	start += strlen("JRE (");
	snprintf(ret_version, size, "%.*s", (int)(end - start), start);
	return 0;
}

static void scrub(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

int vm_version_read(const struct vmstructs *vs, char *ret_version, size_t size)
{
	char version[256];
	int r = -ENODATA;

	/* On JDK 8 the VM's own number ("25.504") says nothing to people. */
	if (vm_version_feature(vs) == 8)
		r = read_jre_version(vs, version, sizeof(version));
	if (r < 0)
		r = read_static_string(vs, "_s_vm_release", version, sizeof(version));
	if (r < 0)
		return r;
	scrub(version);
	snprintf(ret_version, size, "%s", version);
	return 0;
}
