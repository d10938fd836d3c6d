/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/layout/vmtables.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hmap.h"
#include "base/vec.h"

/* JDK 8 has the largest tables: 2,100 entries in all. */
#define MAX_ENTRIES 16384
/* Entries have 16 to 56 bytes. */
#define MAX_STRIDE 256
/* The longest name measured has 70 bytes. */
#define MAX_NAME 512
/* All of them, each once, take 29 to 41 kB; 32 builds are kept (vmstructs.c). */
#define MAX_NAMES_BYTES (1U << 20)

const char *const vmtables_symbol_names[VM_SYMBOL_COUNT] = {
	[VM_STRUCTS] = "gHotSpotVMStructs",
	[VM_STRUCTS_STRIDE] = "gHotSpotVMStructEntryArrayStride",
	[VM_STRUCTS_TYPE_NAME] = "gHotSpotVMStructEntryTypeNameOffset",
	[VM_STRUCTS_FIELD_NAME] = "gHotSpotVMStructEntryFieldNameOffset",
	[VM_STRUCTS_TYPE_STRING] = "gHotSpotVMStructEntryTypeStringOffset",
	[VM_STRUCTS_IS_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
	[VM_STRUCTS_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
	[VM_STRUCTS_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
	[VM_TYPES] = "gHotSpotVMTypes",
	[VM_TYPES_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
	[VM_TYPES_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
	[VM_TYPES_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
	[VM_INTS] = "gHotSpotVMIntConstants",
	[VM_INTS_STRIDE] = "gHotSpotVMIntConstantEntryArrayStride",
	[VM_INTS_NAME] = "gHotSpotVMIntConstantEntryNameOffset",
	[VM_INTS_VALUE] = "gHotSpotVMIntConstantEntryValueOffset",
	[VM_LONGS] = "gHotSpotVMLongConstants",
	[VM_LONGS_STRIDE] = "gHotSpotVMLongConstantEntryArrayStride",
	[VM_LONGS_NAME] = "gHotSpotVMLongConstantEntryNameOffset",
	[VM_LONGS_VALUE] = "gHotSpotVMLongConstantEntryValueOffset",
};

struct vm_type {
	const char *name;
	uint64_t size;
};

struct vm_const {
	const char *name;
	int64_t value;
};

struct vmtables {
	unsigned int refs;
	struct intern names;		   /* owns all strings below */
	VEC(struct vmtables_field) fields; /* sorted by type, name */
	VEC(struct vm_type) types;	   /* sorted by name */
	VEC(struct vm_const) consts;	   /* sorted by name; both tables */
};

struct reader {
	struct vm_pages *pages;
	struct vmtables *tables;
	uint64_t values[VM_SYMBOL_COUNT]; /* what the exported variables hold */
	uint64_t bias;
	uint8_t entry[MAX_STRIDE]; /* the one at hand */
};

static struct vmtables *vmtables_new(void)
{
	struct vmtables *tables = xcalloc(1, sizeof(*tables));

	tables->refs = 1;
	return tables;
}

struct vmtables *vmtables_ref(struct vmtables *tables)
{
	tables->refs++;
	return tables;
}

void vmtables_unref(struct vmtables *tables)
{
	if (!tables || --tables->refs)
		return;
	vec_release(&tables->fields);
	vec_release(&tables->types);
	vec_release(&tables->consts);
	intern_release(&tables->names);
	free(tables);
}

/* Offsets were checked against the stride before. */
static uint64_t entry_u64(const struct reader *r, enum vmtables_symbol offset)
{
	uint64_t value;

	memcpy(&value, r->entry + r->values[offset], sizeof(value));
	return value;
}

static int32_t entry_i32(const struct reader *r, enum vmtables_symbol offset)
{
	int32_t value;

	memcpy(&value, r->entry + r->values[offset], sizeof(value));
	return value;
}

/* The string that the entry's pointer leads to, "" for NULL. */
static int entry_name(struct reader *r, enum vmtables_symbol offset, const char **ret_name)
{
	uint64_t address = entry_u64(r, offset);
	char text[MAX_NAME] = "";
	uint32_t id;

	if (address) {
		int ret = vm_pages_read_string(r->pages, address, text, sizeof(text));

		if (ret < 0)
			return ret;
	}
	id = intern_put(&r->tables->names, text, strlen(text), NULL);
	if (r->tables->names.bytes > MAX_NAMES_BYTES)
		return -E2BIG;
	*ret_name = intern_get(&r->tables->names, id, NULL);
	return 0;
}

static int take_field(struct reader *r)
{
	struct vmtables_field field = { .is_static = entry_i32(r, VM_STRUCTS_IS_STATIC) != 0 };
	int ret = entry_name(r, VM_STRUCTS_TYPE_NAME, &field.type);

	if (!ret)
		ret = entry_name(r, VM_STRUCTS_FIELD_NAME, &field.name);
	if (!ret)
		ret = entry_name(r, VM_STRUCTS_TYPE_STRING, &field.ctype);
	if (ret < 0)
		return ret;
	field.value = field.is_static ? entry_u64(r, VM_STRUCTS_ADDRESS) - r->bias
				      : entry_u64(r, VM_STRUCTS_OFFSET);
	vec_push(&r->tables->fields, field);
	return 0;
}

static int take_type(struct reader *r)
{
	struct vm_type type = { .size = entry_u64(r, VM_TYPES_SIZE) };
	int ret = entry_name(r, VM_TYPES_NAME, &type.name);

	if (ret < 0)
		return ret;
	vec_push(&r->tables->types, type);
	return 0;
}

static int take_int(struct reader *r)
{
	struct vm_const item = { .value = entry_i32(r, VM_INTS_VALUE) };
	int ret = entry_name(r, VM_INTS_NAME, &item.name);

	if (ret < 0)
		return ret;
	vec_push(&r->tables->consts, item);
	return 0;
}

static int take_long(struct reader *r)
{
	struct vm_const item = { .value = (int64_t)entry_u64(r, VM_LONGS_VALUE) };
	int ret = entry_name(r, VM_LONGS_NAME, &item.name);

	if (ret < 0)
		return ret;
	vec_push(&r->tables->consts, item);
	return 0;
}

/* Consecutive symbols describe one table: start, stride, then the offsets up to LAST. */
static const struct table {
	enum vmtables_symbol start, stride, name, last;
	int (*take)(struct reader *r);
} all_tables[] = {
	{ VM_STRUCTS, VM_STRUCTS_STRIDE, VM_STRUCTS_TYPE_NAME, VM_STRUCTS_ADDRESS, take_field },
	{ VM_TYPES, VM_TYPES_STRIDE, VM_TYPES_NAME, VM_TYPES_SIZE, take_type },
	{ VM_INTS, VM_INTS_STRIDE, VM_INTS_NAME, VM_INTS_VALUE, take_int },
	{ VM_LONGS, VM_LONGS_STRIDE, VM_LONGS_NAME, VM_LONGS_VALUE, take_long },
};

/* Every field of an entry is taken as 8 bytes at most, except the two ints. */
static uint64_t symbol_width(enum vmtables_symbol symbol)
{
	return symbol == VM_STRUCTS_IS_STATIC || symbol == VM_INTS_VALUE ? 4 : 8;
}

static int table_check(const struct reader *r, const struct table *table)
{
	uint64_t stride = r->values[table->stride];

	if (!r->values[table->start] || !stride)
		return -EAGAIN;
	if (stride > MAX_STRIDE)
		return -EBADMSG;
	for (unsigned int s = table->name; s <= table->last; s++)
		if (r->values[s] > stride || symbol_width(s) > stride - r->values[s])
			return -EBADMSG;
	return 0;
}

static int table_read(struct reader *r, const struct table *table)
{
	uint64_t stride = r->values[table->stride];
	int ret = table_check(r, table);

	if (ret < 0)
		return ret;
	for (unsigned int i = 0; i < MAX_ENTRIES; i++) {
		ret = vm_pages_read(r->pages, r->values[table->start] + i * stride, r->entry,
				    stride);
		if (ret < 0)
			return ret;
		if (!entry_u64(r, table->name))
			return i ? 0 : -EAGAIN;
		ret = table->take(r);
		if (ret < 0)
			return ret;
	}
	return -E2BIG;
}

static int compare_fields(const void *a, const void *b)
{
	const struct vmtables_field *x = a, *y = b;
	int order = strcmp(x->type, y->type);

	return order ? order : strcmp(x->name, y->name);
}

static int compare_types(const void *a, const void *b)
{
	const struct vm_type *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int compare_consts(const void *a, const void *b)
{
	const struct vm_const *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void vmtables_sort(struct vmtables *t)
{
	qsort(t->fields.items, t->fields.len, sizeof(*t->fields.items), compare_fields);
	qsort(t->types.items, t->types.len, sizeof(*t->types.items), compare_types);
	qsort(t->consts.items, t->consts.len, sizeof(*t->consts.items), compare_consts);
}

int vmtables_read(const struct vm_memory *memory, const uint64_t addresses[VM_SYMBOL_COUNT],
		  uint64_t bias, struct vmtables **ret_tables)
{
	_cleanup_(vm_pages_freep) struct vm_pages *pages = vm_pages_new(memory);
	_cleanup_(vmtables_unrefp) struct vmtables *tables = vmtables_new();
	struct reader r = { .pages = pages, .tables = tables, .bias = bias };
	int ret;

	for (unsigned int i = 0; i < VM_SYMBOL_COUNT; i++) {
		ret = vm_pages_read(pages, addresses[i], &r.values[i], sizeof(r.values[i]));
		if (ret < 0)
			return ret;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(all_tables); i++) {
		ret = table_read(&r, &all_tables[i]);
		if (ret < 0)
			return ret;
	}
	vmtables_sort(tables);
	*ret_tables = TAKE_PTR(tables);
	return 0;
}

static const char *own_name(struct vmtables *tables, const char *text)
{
	return intern_get(&tables->names, intern_put(&tables->names, text, strlen(text), NULL),
			  NULL);
}

void vmtables_add_static(struct vmtables *tables, const char *type, const char *name,
			 const char *ctype, uint64_t relative)
{
	struct vmtables_field field = { .value = relative, .is_static = true, .added = true };

	if (vmtables_find_field(tables, type, name))
		return;
	field.type = own_name(tables, type);
	field.name = own_name(tables, name);
	field.ctype = own_name(tables, ctype);
	vec_push(&tables->fields, field);
	vmtables_sort(tables);
}

/* --- are they the same? ----------------------------------------------------------------------- */

uint64_t vmtables_hash(const struct vmtables *tables)
{
	uint64_t hash = tables->types.len << 32 ^ tables->consts.len;
	const struct vmtables_field *field;
	const struct vm_const *item;
	const struct vm_type *type;

	vec_for_each (field, &tables->fields)
		if (!field->added)
			hash = hash * 31 + field->value;
	vec_for_each (type, &tables->types)
		hash = hash * 31 + type->size;
	vec_for_each (item, &tables->consts)
		hash = hash * 31 + (uint64_t)item->value;
	return hash;
}

static const struct vmtables_field *skip_added(const struct vmtables_field *at,
					       const struct vmtables_field *end, bool with_added)
{
	while (at < end && at->added && !with_added)
		at++;
	return at;
}

static bool same_field(const struct vmtables_field *a, const struct vmtables_field *b)
{
	return a->value == b->value && a->is_static == b->is_static && !strcmp(a->type, b->type) &&
	       !strcmp(a->name, b->name) && !strcmp(a->ctype, b->ctype);
}

static bool same_fields(const struct vmtables *a, const struct vmtables *b, bool with_added)
{
	const struct vmtables_field *x = a->fields.items, *x_end = x + a->fields.len;
	const struct vmtables_field *y = b->fields.items, *y_end = y + b->fields.len;

	for (;; x++, y++) {
		x = skip_added(x, x_end, with_added);
		y = skip_added(y, y_end, with_added);
		if (x == x_end || y == y_end)
			return x == x_end && y == y_end;
		if (!same_field(x, y))
			return false;
	}
}

static bool same_types(const struct vmtables *a, const struct vmtables *b)
{
	if (a->types.len != b->types.len)
		return false;
	for (size_t i = 0; i < a->types.len; i++)
		if (a->types.items[i].size != b->types.items[i].size ||
		    strcmp(a->types.items[i].name, b->types.items[i].name) != 0)
			return false;
	return true;
}

static bool same_consts(const struct vmtables *a, const struct vmtables *b)
{
	if (a->consts.len != b->consts.len)
		return false;
	for (size_t i = 0; i < a->consts.len; i++)
		if (a->consts.items[i].value != b->consts.items[i].value ||
		    strcmp(a->consts.items[i].name, b->consts.items[i].name) != 0)
			return false;
	return true;
}

bool vmtables_equal(const struct vmtables *a, const struct vmtables *b, bool with_added)
{
	return same_fields(a, b, with_added) && same_types(a, b) && same_consts(a, b);
}

/* --- look-ups --------------------------------------------------------------------------------- */

const struct vmtables_field *vmtables_find_field(const struct vmtables *tables, const char *type,
						 const char *field)
{
	const struct vmtables_field key = { .type = type, .name = field };

	return bsearch(&key, tables->fields.items, tables->fields.len,
		       sizeof(*tables->fields.items), compare_fields);
}

bool vmtables_find_size(const struct vmtables *tables, const char *type, uint64_t *ret_size)
{
	const struct vm_type key = { .name = type };
	const struct vm_type *found = bsearch(&key, tables->types.items, tables->types.len,
					      sizeof(*tables->types.items), compare_types);

	if (!found)
		return false;
	*ret_size = found->size;
	return true;
}

bool vmtables_find_const(const struct vmtables *tables, const char *name, int64_t *ret_value)
{
	const struct vm_const key = { .name = name };
	const struct vm_const *found = bsearch(&key, tables->consts.items, tables->consts.len,
					       sizeof(*tables->consts.items), compare_consts);

	if (!found)
		return false;
	*ret_value = found->value;
	return true;
}
