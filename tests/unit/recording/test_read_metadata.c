/* SPDX-License-Identifier: Apache-2.0 */
/* Types of any producer: what a recording says of them, and values of every kind read by that. */
#include "test.h"

#include <errno.h>

#include "made_jfr.h"
#include "recording/read_metadata.h"

static const struct made_type types[] = {
	{ "boolean", "4", { { 0 } } },
	{ "char", "5", { { 0 } } },
	{ "float", "6", { { 0 } } },
	{ "double", "7", { { 0 } } },
	{ "byte", "8", { { 0 } } },
	{ "short", "9", { { 0 } } },
	{ "int", "10", { { 0 } } },
	{ "long", "11", { { 0 } } },
	{ "java.lang.String", "20", { { 0 } } },
	{ "Pair", "30", { { "left", "10", false, false }, { "right", "30", true, false } } },
	{ "Event",
	  "100",
	  {
		  { "number", "11", false, false },
		  { "flag", "4", false, false },
		  { "ratio", "6", false, false },
		  { "share", "7", false, false },
		  { "text", "20", false, false },
		  { "key", "20", true, false },
		  { "pair", "30", false, false },
		  { "numbers", "9", false, true },
		  { "keys", "30", true, true },
		  { "last", "5", false, false },
	  } },
	{ "Nothing", "200", { { 0 } } },
};

static void parse(struct read_metadata *schema, const struct made_type *made, size_t count)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;

	jfr_schema_init(schema);
	made_metadata(&bytes, made, count);
	assert_int_equal(jfr_schema_parse(schema, made_cursor(&bytes)), 0);
}

static void types_and_fields(void **state)
{
	static const enum jfr_primitive primitives[] = {
		JFR_IS_BYTE,   JFR_IS_VARINT, JFR_IS_FLOAT,  JFR_IS_DOUBLE,
		JFR_IS_BYTE,   JFR_IS_VARINT, JFR_IS_VARINT, JFR_IS_VARINT,
		JFR_IS_STRING, JFR_COMPOSITE, JFR_COMPOSITE, JFR_COMPOSITE,
	};
	struct read_metadata schema;

	(void)state;
	parse(&schema, types, ARRAY_SIZE(types));
	assert_int_equal(schema.types.len, ARRAY_SIZE(types));
	for (uint32_t i = 0; i < ARRAY_SIZE(types); i++) {
		const struct jfr_type *type = &schema.types.items[i];
		size_t fields = 0;

		while (fields < 10 && types[i].fields[fields].name)
			fields++;
		assert_string_equal(type->name, types[i].name);
		assert_int_equal(type->id, strtoul(types[i].id, NULL, 10));
		assert_int_equal(type->primitive, primitives[i]);
		assert_int_equal(type->field_count, fields);
		assert_int_equal(jfr_schema_find(&schema, types[i].name), i);
		assert_int_equal(jfr_schema_find_id(&schema, type->id), i);
		for (size_t k = 0; k < fields; k++) {
			const struct jfr_field *field = &schema.fields.items[type->first_field + k];

			assert_string_equal(field->name, types[i].fields[k].name);
			assert_int_equal(field->pool, types[i].fields[k].pool);
			assert_int_equal(field->array, types[i].fields[k].array);
			assert_int_equal(schema.types.items[field->type].id,
					 strtoul(types[i].fields[k].type, NULL, 10));
		}
	}
	assert_int_equal(jfr_schema_find(&schema, "Even"), JFR_NO_TYPE);
	assert_int_equal(jfr_schema_find_id(&schema, 12), JFR_NO_TYPE);
	jfr_schema_release(&schema);
}

/* One of Event; TEXT "ab". */
static void put_event(struct strbuf *out)
{
	jfr_put_varint(out, 300);
	jfr_put_byte(out, 200);
	strbuf_add(out, "\xff\xff\xff\xff", 4);
	strbuf_add(out, "\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe", 8);
	jfr_put_utf8(out, "ab", 2);
	jfr_put_varint(out, 77777);
	jfr_put_varint(out, 128); /* the pair's left, and the key of its right */
	jfr_put_varint(out, 129);
	jfr_put_varint(out, 3);
	for (int i = 0; i < 3; i++)
		jfr_put_varint(out, 130);
	jfr_put_varint(out, 2);
	for (int i = 0; i < 2; i++)
		jfr_put_varint(out, 131);
	jfr_put_varint(out, 0xffee);
}

static void values_of_every_kind(void **state)
{
	static const char *const wanted[] = { "key",	 "missing", "number", "flag",
					      "ratio",	 "share",   "text",   "last",
					      "numbers", "pair",    NULL };
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	struct jfr_values values;
	struct read_layout layout;
	struct read_metadata schema;
	struct jfr_cursor c;

	(void)state;
	parse(&schema, types, ARRAY_SIZE(types));
	put_event(&bytes);
	c = made_cursor(&bytes);
	read_skip_value(&schema, &c, jfr_schema_find(&schema, "Event"));
	assert_false(c.bad);
	assert_int_equal(jfr_left(&c), 0);
	jfr_layout_init(&layout, &schema, jfr_schema_find(&schema, "Event"), wanted);
	/* floats and objects are passed over; of an array its reader is told */
	assert_int_equal(layout.found, 1 << 0 | 1 << 2 | 1 << 3 | 1 << 6 | 1 << 7 | 1 << 8);
	assert_int_equal(layout.steps.len, 10);
	assert_int_equal(layout.steps.items[7].kind, JFR_STEP_ARRAY);
	assert_int_equal(layout.steps.items[7].slot, 8);
	assert_int_equal(layout.steps.items[8].kind, JFR_STEP_SKIP);
	memset(&values, 0, sizeof(values));
	values.number[1] = 42;
	c = made_cursor(&bytes);
	read_object(&schema, &layout, &c, &values);
	assert_false(c.bad);
	assert_int_equal(jfr_left(&c), 0);
	assert_int_equal(values.number[0], 77777);
	assert_int_equal(values.number[1], 42);
	assert_int_equal(values.number[2], 300);
	assert_int_equal(values.number[3], 200);
	assert_int_equal(values.number[7], 0xffee);
	assert_int_equal(values.text[6].len, 2);
	assert_memory_equal(values.text[6].data, "ab", 2);
	jfr_layout_release(&layout);
	assert_int_equal(layout.found, 0);
	/* A string's own pool: one text, whatever is wanted. A number's has nothing to read. */
	jfr_layout_init(&layout, &schema, jfr_schema_find(&schema, "java.lang.String"), wanted);
	assert_int_equal(layout.steps.len, 1);
	assert_int_equal(layout.steps.items[0].kind, JFR_STEP_TEXT);
	assert_int_equal(layout.steps.items[0].slot, 0);
	jfr_layout_release(&layout);
	jfr_layout_init(&layout, &schema, jfr_schema_find(&schema, "long"), wanted);
	assert_int_equal(layout.steps.len, 0);
	assert_int_equal(layout.found, 0);
	jfr_layout_release(&layout);
	jfr_schema_release(&schema);
}

/* Cut anywhere: bad, for who steps over it and for who reads it. */
static void values_that_are_cut(void **state)
{
	static const char *const wanted[] = { "number", "text", "last", NULL };
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	struct read_layout layout;
	struct read_metadata schema;
	size_t len;

	(void)state;
	parse(&schema, types, ARRAY_SIZE(types));
	jfr_layout_init(&layout, &schema, jfr_schema_find(&schema, "Event"), wanted);
	put_event(&bytes);
	len = bytes.len;
	for (bytes.len = 0; bytes.len < len; bytes.len++) {
		struct jfr_values values;
		struct jfr_cursor c = made_cursor(&bytes);

		read_skip_value(&schema, &c, jfr_schema_find(&schema, "Event"));
		assert_true(c.bad);
		c = made_cursor(&bytes);
		read_object(&schema, &layout, &c, &values);
		assert_true(c.bad);
	}
	jfr_layout_release(&layout);
	jfr_schema_release(&schema);
}

/* An object in an object, eight times; nine, or one without fields, has no end. */
static void objects_in_objects(void **state)
{
	static const char *const ids[] = { "40", "41", "42", "43", "44", "45",
					   "46", "47", "48", "49", "50" };
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	struct made_type chain[12] = { { "long", "11", { { 0 } } } };
	struct read_metadata schema;
	struct jfr_cursor c;

	(void)state;
	jfr_put_varint(&bytes, 5);
	for (uint32_t i = 0; i < 11; i++)
		chain[1 + i] = (struct made_type){
			"Object", ids[i], { { "next", i < 10 ? ids[i + 1] : "11", false, false } }
		};
	parse(&schema, chain, 12);
	for (uint32_t nested = 0; nested < 11; nested++) {
		c = made_cursor(&bytes);
		read_skip_value(&schema, &c, 11 - nested);
		assert_int_equal(c.bad, nested > 8);
		assert_int_equal(jfr_left(&c), 0);
	}
	jfr_schema_release(&schema);
	parse(&schema, types, ARRAY_SIZE(types));
	c = made_cursor(&bytes);
	read_skip_value(&schema, &c, jfr_schema_find(&schema, "Nothing"));
	assert_true(c.bad);
	jfr_schema_release(&schema);
}

/* Every cut of the metadata is seen; so are a type that is not there and a number of no string. */
static void metadata_that_is_damaged(void **state)
{
	static const struct made_type lost = { "Lost", "60", { { "field", "61", false, false } } };
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT, deep = STRBUF_INIT;
	struct read_metadata schema;
	size_t len;

	(void)state;
	made_metadata(&bytes, types, ARRAY_SIZE(types));
	len = bytes.len;
	for (bytes.len = 0; bytes.len < len; bytes.len += 1 + bytes.len / 64) {
		jfr_schema_init(&schema);
		assert_int_equal(jfr_schema_parse(&schema, made_cursor(&bytes)), -EBADMSG);
		jfr_schema_release(&schema);
	}
	strbuf_reset(&bytes);
	made_metadata(&bytes, &lost, 1);
	jfr_schema_init(&schema);
	assert_int_equal(jfr_schema_parse(&schema, made_cursor(&bytes)), -EBADMSG);
	jfr_schema_release(&schema);
	/* One string, and elements within elements whose name it is: up to fifteen. */
	for (unsigned int depth = 1; depth < 20; depth++) {
		strbuf_reset(&deep);
		jfr_put_varint(&deep, 1);
		jfr_put_utf8(&deep, "x", 1);
		for (unsigned int i = 1; i <= depth; i++)
			strbuf_add(&deep, i < depth ? "\0\0\1" : "\0\0\0", 3);
		jfr_schema_init(&schema);
		assert_int_equal(jfr_schema_parse(&schema, made_cursor(&deep)),
				 depth <= 15 ? 0 : -EBADMSG);
		jfr_schema_release(&schema);
	}
	strbuf_reset(&deep);
	jfr_put_varint(&deep, 1);
	jfr_put_utf8(&deep, "x", 1);
	strbuf_add(&deep, "\1\0\0", 3);
	jfr_schema_init(&schema);
	assert_int_equal(jfr_schema_parse(&schema, made_cursor(&deep)), -EBADMSG);
	jfr_schema_release(&schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_and_fields),	    cmocka_unit_test(values_of_every_kind),
		cmocka_unit_test(values_that_are_cut),	    cmocka_unit_test(objects_in_objects),
		cmocka_unit_test(metadata_that_is_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
