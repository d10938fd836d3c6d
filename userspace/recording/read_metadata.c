/* SPDX-License-Identifier: Apache-2.0 */
/* Layout of the metadata event: jdk/jfr/internal/{MetadataDescriptor,MetadataReader}.java. */
#include "recording/read_metadata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recording/write_values.h"

/* root, metadata, class, field, annotation is all there is. */
#define MAX_DEPTH 16

enum element_kind { ELEMENT_OTHER, ELEMENT_METADATA, ELEMENT_CLASS };

struct element {
	enum element_kind kind;
	uint64_t children;
};

struct attributes {
	const char *id, *name, *type, *dimension;
	bool pool;
};

void jfr_schema_init(struct read_metadata *schema)
{
	memset(schema, 0, sizeof(*schema));
	intern_init(&schema->strings);
}

void jfr_schema_release(struct read_metadata *schema)
{
	intern_release(&schema->strings);
	vec_release(&schema->numbers);
	vec_release(&schema->types);
	vec_release(&schema->fields);
	hmap_release(&schema->by_id);
}

static void read_strings(struct read_metadata *schema, struct jfr_cursor *c)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t count = jfr_get_varint(c);

	for (uint64_t i = 0; i < count && !c->bad; i++) {
		struct jfr_text raw = jfr_get_text(c);

		strbuf_reset(&text);
		if (raw.encoding != JFR_STRING_POOL)
			jfr_decode_text(&text, &raw);
		vec_push(&schema->numbers,
			 intern_put(&schema->strings, strbuf_str(&text), text.len, NULL));
	}
}

static const char *read_name(const struct read_metadata *schema, struct jfr_cursor *c)
{
	uint64_t number = jfr_get_varint(c);

	if (number >= schema->numbers.len) {
		jfr_fail(c);
		return "";
	}
	return intern_get(&schema->strings, schema->numbers.items[number], NULL);
}

static struct attributes read_attributes(const struct read_metadata *schema, struct jfr_cursor *c)
{
	struct attributes found = { "", "", "", "", false };
	uint64_t count = jfr_get_varint(c);

	for (uint64_t i = 0; i < count && !c->bad; i++) {
		const char *key = read_name(schema, c);
		const char *value = read_name(schema, c);

		if (!strcmp(key, "id"))
			found.id = value;
		else if (!strcmp(key, "name"))
			found.name = value;
		else if (!strcmp(key, "class"))
			found.type = value;
		else if (!strcmp(key, "dimension"))
			found.dimension = value;
		else if (!strcmp(key, "constantPool"))
			found.pool = !strcmp(value, "true");
	}
	return found;
}

static enum jfr_primitive primitive_of(const char *name)
{
	static const struct {
		const char *name;
		enum jfr_primitive primitive;
	} primitives[] = {
		{ "boolean", JFR_IS_BYTE },
		{ "byte", JFR_IS_BYTE },
		{ "char", JFR_IS_VARINT },
		{ "short", JFR_IS_VARINT },
		{ "int", JFR_IS_VARINT },
		{ "long", JFR_IS_VARINT },
		{ "float", JFR_IS_FLOAT },
		{ "double", JFR_IS_DOUBLE },
		{ "java.lang.String", JFR_IS_STRING },
	};

	for (size_t i = 0; i < ARRAY_SIZE(primitives); i++)
		if (!strcmp(primitives[i].name, name))
			return primitives[i].primitive;
	return JFR_COMPOSITE;
}

static void add_type(struct read_metadata *schema, const struct attributes *a)
{
	struct jfr_type type = {
		.name = a->name,
		.id = strtoull(a->id, NULL, 10),
		.primitive = primitive_of(a->name),
		.first_field = (uint32_t)schema->fields.len,
	};

	hmap_put(&schema->by_id, type.id, schema->types.len);
	vec_push(&schema->types, type);
}

static void add_field(struct read_metadata *schema, const struct attributes *a)
{
	struct jfr_field field = {
		.name = a->name,
		.type_id = strtoull(a->type, NULL, 10),
		.pool = a->pool,
		.array = strtoul(a->dimension, NULL, 10) > 0,
	};

	vec_push(&schema->fields, field);
	schema->types.items[schema->types.len - 1].field_count++;
}

static enum element_kind add_element(struct read_metadata *schema, enum element_kind parent,
				     const char *name, const struct attributes *a)
{
	if (parent == ELEMENT_METADATA && !strcmp(name, "class")) {
		add_type(schema, a);
		return ELEMENT_CLASS;
	}
	if (parent == ELEMENT_CLASS && !strcmp(name, "field"))
		add_field(schema, a);
	return !strcmp(name, "metadata") ? ELEMENT_METADATA : ELEMENT_OTHER;
}

static void read_elements(struct read_metadata *schema, struct jfr_cursor *c)
{
	struct element stack[MAX_DEPTH] = { { ELEMENT_OTHER, 1 } };
	int depth = 0;

	while (depth >= 0 && !c->bad) {
		struct element *parent = &stack[depth];
		struct attributes attributes;
		const char *name;

		if (!parent->children) {
			depth--;
			continue;
		}
		parent->children--;
		if (++depth == MAX_DEPTH) {
			jfr_fail(c);
			return;
		}
		name = read_name(schema, c);
		attributes = read_attributes(schema, c);
		stack[depth].kind = add_element(schema, parent->kind, name, &attributes);
		stack[depth].children = jfr_get_varint(c);
	}
}

int jfr_schema_parse(struct read_metadata *schema, struct jfr_cursor body)
{
	struct jfr_field *field;

	read_strings(schema, &body);
	read_elements(schema, &body);
	if (body.bad)
		return -EBADMSG;
	vec_for_each (field, &schema->fields) {
		field->type = jfr_schema_find_id(schema, field->type_id);
		if (field->type == JFR_NO_TYPE)
			return -EBADMSG;
	}
	return 0;
}

uint32_t jfr_schema_find(const struct read_metadata *schema, const char *name)
{
	for (uint32_t i = 0; i < schema->types.len; i++)
		if (!strcmp(schema->types.items[i].name, name))
			return i;
	return JFR_NO_TYPE;
}

uint32_t jfr_schema_find_id(const struct read_metadata *schema, uint64_t id)
{
	uint64_t index;

	return hmap_get(&schema->by_id, id, &index) ? (uint32_t)index : JFR_NO_TYPE;
}
