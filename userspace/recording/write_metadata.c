/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layout: src/jdk.jfr/share/classes/jdk/jfr/internal/{MetadataDescriptor,MetadataReader}.java.
 * After the event's start, duration and id come the strings, then one tree of elements: name,
 * attributes (count, then key and value) and children (count, then each), all by string number.
 */
#include "recording/write_metadata.h"

#include <inttypes.h>
#include <string.h>

#include "base/hmap.h"
#include "recording/types.h"
#include "recording/write_values.h"

/*
 * Readers take chunks with the same id for chunks with the same types. Far away from what a JVM
 * counts up from 1, so that our file can be joined with a JVM's.
 */
#define METADATA_ID 0x686f7375

struct tree {
	struct intern strings;
	struct strbuf elements;
};

static void put_string(struct tree *tree, const char *s)
{
	jfr_put_varint(&tree->elements, intern_put(&tree->strings, s, strlen(s), NULL));
}

static void put_element(struct tree *tree, const char *name, unsigned int attributes)
{
	put_string(tree, name);
	jfr_put_varint(&tree->elements, attributes);
}

static void put_attribute(struct tree *tree, const char *key, const char *value)
{
	put_string(tree, key);
	put_string(tree, value);
}

static void put_number(struct tree *tree, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	put_attribute(tree, key, text);
}

static void put_children(struct tree *tree, unsigned int count)
{
	jfr_put_varint(&tree->elements, count);
}

static void put_annotation(struct tree *tree, enum jfr_type_id type, const char *value)
{
	put_element(tree, "annotation", value ? 2 : 1);
	put_number(tree, "class", type);
	if (value)
		put_attribute(tree, "value", value);
	put_children(tree, 0);
}

static void put_category(struct tree *tree, const char *const category[2])
{
	put_element(tree, "annotation", category[1] ? 3 : 2);
	put_number(tree, "class", JFR_ANN_CATEGORY);
	put_attribute(tree, "value-0", category[0]);
	if (category[1])
		put_attribute(tree, "value-1", category[1]);
	put_children(tree, 0);
}

static void put_field(struct tree *tree, const struct jfr_field_info *field)
{
	bool pool = field->flags & JFR_POOL, array = field->flags & JFR_ARRAY;

	put_element(tree, "field", 2 + pool + array);
	put_attribute(tree, "name", field->name);
	put_number(tree, "class", field->type);
	if (pool)
		put_attribute(tree, "constantPool", "true");
	if (array)
		put_number(tree, "dimension", 1);
	put_children(tree, !!field->label + !!field->content.type);
	if (field->label)
		put_annotation(tree, JFR_ANN_LABEL, field->label);
	if (field->content.type)
		put_annotation(tree, field->content.type, field->content.value);
}

/* Those of wakers are the last ones. */
static unsigned int field_count(const struct jfr_type_info *type, bool tells_wakers)
{
	unsigned int n = 0;

	while (type->fields && type->fields[n].name &&
	       (tells_wakers || !(type->fields[n].flags & JFR_WAKER)))
		n++;
	return n;
}

static void put_type(struct tree *tree, int id, bool tells_wakers)
{
	static const char *const supers[] = {
		[JFR_SUPER_EVENT] = "jdk.jfr.Event",
		[JFR_SUPER_ANNOTATION] = "java.lang.annotation.Annotation",
	};
	const struct jfr_type_info *type = &jfr_types[id];
	unsigned int fields = field_count(type, tells_wakers);

	put_element(tree, "class", 2 + !!type->super + type->simple);
	put_attribute(tree, "name", type->name);
	if (type->super)
		put_attribute(tree, "superType", supers[type->super]);
	if (type->simple)
		put_attribute(tree, "simpleType", "true");
	put_number(tree, "id", id);
	put_children(tree, fields + !!type->label + !!type->description + !!type->category[0]);
	if (type->label)
		put_annotation(tree, JFR_ANN_LABEL, type->label);
	if (type->description)
		put_annotation(tree, JFR_ANN_DESCRIPTION, type->description);
	if (type->category[0])
		put_category(tree, type->category);
	for (unsigned int i = 0; i < fields; i++)
		put_field(tree, &type->fields[i]);
}

static void put_types(struct tree *tree, bool tells_wakers)
{
	unsigned int count = 0;

	for (int id = 0; id < JFR_TYPE_COUNT; id++)
		count += !!jfr_types[id].name;
	put_element(tree, "metadata", 0);
	put_children(tree, count);
	for (int id = 0; id < JFR_TYPE_COUNT; id++)
		if (jfr_types[id].name)
			put_type(tree, id, tells_wakers);
}

static void put_tree(struct tree *tree, int64_t gmt_offset_ms, bool tells_wakers)
{
	put_element(tree, "root", 0);
	put_children(tree, 2);
	put_types(tree, tells_wakers);
	put_element(tree, "region", 3);
	put_attribute(tree, "locale", "en_US");
	put_number(tree, "gmtOffset", gmt_offset_ms);
	put_number(tree, "dst", 0);
	put_children(tree, 0);
}

void jfr_put_metadata(struct strbuf *out, uint64_t start_ns, int64_t gmt_offset_ms,
		      bool tells_wakers)
{
	size_t event = jfr_begin_event(out, JFR_METADATA);
	struct tree tree = { .elements = STRBUF_INIT };

	intern_init(&tree.strings);
	put_tree(&tree, gmt_offset_ms, tells_wakers);
	jfr_put_varint(out, start_ns);
	jfr_put_varint(out, 0);
	jfr_put_varint(out, METADATA_ID);
	jfr_put_varint(out, intern_len(&tree.strings));
	for (uint32_t id = 0; id < intern_len(&tree.strings); id++) {
		size_t len;
		const char *s = intern_get(&tree.strings, id, &len);

		jfr_put_utf8(out, s, len);
	}
	strbuf_add(out, tree.elements.buf, tree.elements.len);
	jfr_end_event(out, event);
	intern_release(&tree.strings);
	strbuf_release(&tree.elements);
}
