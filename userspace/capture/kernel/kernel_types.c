// SPDX-License-Identifier: Apache-2.0
/* The format: include/uapi/linux/btf.h and Documentation/bpf/btf.rst of the kernel. */
#include "capture/kernel/kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/vec.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"
/* Those of distributions have 5 to 10 MB. */
#define MOST_BYTES (64 << 20)
/* What follows in a name of ours is not in the kernel's: libbpf's "flavours". */
#define FLAVOUR "___"
/* The id of no type: void. */
#define BTF_VOID 0

struct names {
	VEC(char *) items; /* owned; in order */
};

/* A cut: what there is, and of it what was taken. */
struct cut {
	const char *types, *strings;
	size_t types_len, strings_len;
	VEC(uint32_t) at;     /* where each type is in types, by its id */
	uint32_t *new_ids;    /* of those taken, by id */
	VEC(uint32_t) taken;  /* their ids, by new id - 1 */
	uint32_t any_pointer; /* the new id of `void *`, or BTF_VOID */
	struct strbuf out_types, out_strings;
};

static void names_release(struct names *names)
{
	for (size_t i = 0; i < names->items.len; i++)
		free(names->items.items[i]);
	vec_release(&names->items);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_read(struct names *names, const struct btf *wanted)
{
	for (uint32_t id = 1; id < btf__type_cnt(wanted); id++) {
		const struct btf_type *type = btf__type_by_id(wanted, id);
		const char *name = btf__name_by_offset(wanted, type->name_off), *flavour;

		if (!btf_is_composite(type) || !name || !name[0])
			continue;
		flavour = strstr(name, FLAVOUR);
		vec_push(&names->items,
			 xstrndup(name, flavour ? (size_t)(flavour - name) : strlen(name)));
	}
	if (names->items.len)
		qsort(names->items.items, names->items.len, sizeof(*names->items.items),
		      compare_names);
}

static bool names_have(const struct names *names, const char *name)
{
	return names->items.len && bsearch(&name, names->items.items, names->items.len,
					   sizeof(*names->items.items), compare_names);
}

/* What follows a type of this kind, for all it has n of and once; -1: not known. */
static long kind_bytes(const struct btf_type *type)
{
	long n = btf_vlen(type);

	switch (btf_kind(type)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG: return 0;
	case BTF_KIND_INT: return sizeof(uint32_t);
	case BTF_KIND_VAR: return sizeof(struct btf_var);
	case BTF_KIND_DECL_TAG: return sizeof(struct btf_decl_tag);
	case BTF_KIND_ARRAY: return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION: return n * (long)sizeof(struct btf_member);
	case BTF_KIND_ENUM: return n * (long)sizeof(struct btf_enum);
	case BTF_KIND_ENUM64: return n * (long)sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO: return n * (long)sizeof(struct btf_param);
	case BTF_KIND_DATASEC: return n * (long)sizeof(struct btf_var_secinfo);
	default: return -1;
	}
}

static const struct btf_type *cut_type(const struct cut *cut, uint32_t id)
{
	return (const struct btf_type *)(cut->types + cut->at.items[id]);
}

/* Both sections lie in the file behind its header, and the last string ends. */
static int cut_read_header(struct cut *cut, const char *kernel, size_t len)
{
	struct btf_header header;

	if (len < sizeof(header))
		return -EBADMSG;
	memcpy(&header, kernel, sizeof(header));
	if (header.magic != BTF_MAGIC || header.hdr_len < sizeof(header) || header.hdr_len > len)
		return -EBADMSG;
	len -= header.hdr_len;
	if (header.type_off > len || header.type_len > len - header.type_off ||
	    header.str_len == 0 || header.str_off > len || header.str_len > len - header.str_off ||
	    header.type_off % 4)
		return -EBADMSG;
	cut->types = kernel + header.hdr_len + header.type_off;
	cut->types_len = header.type_len;
	cut->strings = kernel + header.hdr_len + header.str_off;
	cut->strings_len = header.str_len;
	return cut->strings[cut->strings_len - 1] ? -EBADMSG : 0;
}

/* Where each type is; each with a name that is there. */
static int cut_index(struct cut *cut)
{
	vec_push(&cut->at, 0);
	for (size_t at = 0; at < cut->types_len;) {
		const struct btf_type *type = (const struct btf_type *)(cut->types + at);
		size_t left = cut->types_len - at;
		long more;

		if (left < sizeof(*type) || type->name_off >= cut->strings_len)
			return -EBADMSG;
		more = kind_bytes(type);
		if (more < 0)
			return -EOPNOTSUPP;
		if ((size_t)more > left - sizeof(*type))
			return -EBADMSG;
		vec_push(&cut->at, (uint32_t)at);
		at += sizeof(*type) + (size_t)more;
	}
	return 0;
}

/* The new id of a type that something taken has. A pointer is one like all others. */
static int cut_take(struct cut *cut, uint32_t id, uint32_t *ret_new_id)
{
	uint32_t *new_id;

	if (id >= cut->at.len)
		return -EBADMSG;
	if (id == BTF_VOID) {
		*ret_new_id = BTF_VOID;
		return 0;
	}
	new_id = btf_is_ptr(cut_type(cut, id)) ? &cut->any_pointer : &cut->new_ids[id];
	if (!*new_id) {
		vec_push(&cut->taken, id);
		*new_id = (uint32_t)cut->taken.len;
	}
	*ret_new_id = *new_id;
	return 0;
}

static uint32_t cut_add_string(struct cut *cut, uint32_t at)
{
	uint32_t added = (uint32_t)cut->out_strings.len;
	const char *string = cut->strings + at;

	if (at >= cut->strings_len || !string[0])
		return 0;
	strbuf_add(&cut->out_strings, string, strlen(string) + 1);
	return added;
}

static int cut_copy_members(struct cut *cut, const struct btf_type *type)
{
	const struct btf_member *members = btf_members(type);

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		struct btf_member member = members[i];
		int r = cut_take(cut, member.type, &member.type);

		if (r < 0)
			return r;
		member.name_off = cut_add_string(cut, member.name_off);
		strbuf_add(&cut->out_types, &member, sizeof(member));
	}
	return 0;
}

static int cut_copy_array(struct cut *cut, const struct btf_type *type)
{
	struct btf_array array = *btf_array(type);
	int r = cut_take(cut, array.type, &array.type);

	if (r == 0)
		r = cut_take(cut, array.index_type, &array.index_type);
	strbuf_add(&cut->out_types, &array, sizeof(array));
	return r;
}

/* What follows the type itself, with its names left out where nobody looks at them. */
static int cut_copy_rest(struct cut *cut, const struct btf_type *type)
{
	switch (btf_kind(type)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION: return cut_copy_members(cut, type);
	case BTF_KIND_ARRAY: return cut_copy_array(cut, type);
	case BTF_KIND_INT: strbuf_add(&cut->out_types, type + 1, sizeof(uint32_t)); return 0;
	default: return 0;
	}
}

/* By its new names and ids. Of an enumeration its size is enough. */
static int cut_copy(struct cut *cut, uint32_t id)
{
	const struct btf_type *type = cut_type(cut, id);
	struct btf_type copy = *type;
	int r = 0;

	copy.name_off = cut_add_string(cut, type->name_off);
	switch (btf_kind(type)) {
	case BTF_KIND_PTR: copy.type = BTF_VOID; break;
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG: r = cut_take(cut, type->type, &copy.type); break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64: copy.info &= ~BTF_INFO_VLEN(~0U); break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ARRAY:
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_FWD: break;
	/* A function, a variable: no part of a structure. */
	default: return -EBADMSG;
	}
	strbuf_add(&cut->out_types, &copy, sizeof(copy));
	return r < 0 ? r : cut_copy_rest(cut, type);
}

static int cut_all(struct cut *cut, const struct names *names)
{
	uint32_t new_id;
	int r = 0;

	cut->new_ids = xcalloc(cut->at.len, sizeof(*cut->new_ids));
	strbuf_addch(&cut->out_strings, 0);
	for (uint32_t id = 1; id < cut->at.len; id++)
		if (btf_is_composite(cut_type(cut, id)) &&
		    names_have(names, cut->strings + cut_type(cut, id)->name_off))
			(void)cut_take(cut, id, &new_id);
	/* What these have is taken meanwhile. */
	for (size_t i = 0; i < cut->taken.len && r == 0; i++)
		r = cut_copy(cut, cut->taken.items[i]);
	return r;
}

static void cut_write(const struct cut *cut, struct strbuf *out)
{
	struct btf_header header = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(header),
		.type_len = (uint32_t)cut->out_types.len,
		.str_off = (uint32_t)cut->out_types.len,
		.str_len = (uint32_t)cut->out_strings.len,
	};

	strbuf_add(out, &header, sizeof(header));
	strbuf_add(out, cut->out_types.buf, cut->out_types.len);
	strbuf_add(out, cut->out_strings.buf, cut->out_strings.len);
}

static void cut_release(struct cut *cut)
{
	vec_release(&cut->at);
	vec_release(&cut->taken);
	free(cut->new_ids);
	strbuf_release(&cut->out_types);
	strbuf_release(&cut->out_strings);
}

int kernel_types_cut(const void *kernel, size_t len, const struct btf *wanted, struct strbuf *out)
{
	_cleanup_(names_release) struct names names = { 0 };
	_cleanup_(cut_release) struct cut cut = { 0 };
	int r = cut_read_header(&cut, kernel, len);

	if (r == 0)
		r = cut_index(&cut);
	if (r < 0)
		return r;
	names_read(&names, wanted);
	r = cut_all(&cut, &names);
	if (r == 0)
		cut_write(&cut, out);
	return r;
}

int kernel_types_write(const struct btf *wanted, int fd)
{
	_cleanup_strbuf_ struct strbuf kernel = STRBUF_INIT, types = STRBUF_INIT;
	int r = file_read(KERNEL_BTF, MOST_BYTES, &kernel);

	if (r == 0)
		r = kernel_types_cut(strbuf_str(&kernel), kernel.len, wanted, &types);
	return r < 0 ? r : file_write_all(fd, types.buf, types.len);
}
