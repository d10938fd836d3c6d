/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "recording/read_metadata.h"

/* Objects inside objects inside objects: the JDK's own files have no more than two. */
#define MAX_NESTING 8

static void skip_nested(const struct read_metadata *schema, struct jfr_cursor *c, uint32_t type,
			int nesting);

static void skip_field(const struct read_metadata *schema, struct jfr_cursor *c,
		       const struct jfr_field *field, int nesting)
{
	uint64_t count = field->array ? jfr_get_varint(c) : 1;

	/* Every value is a byte at least, so a count that lies ends at the end of the bytes. */
	for (uint64_t i = 0; i < count && !c->bad; i++) {
		if (field->pool)
			jfr_get_varint(c);
		else
			skip_nested(schema, c, field->type, nesting);
	}
}

static void skip_composite(const struct read_metadata *schema, struct jfr_cursor *c,
			   const struct jfr_type *type, int nesting)
{
	if (nesting > MAX_NESTING || !type->field_count)
		jfr_fail(c);
	for (uint32_t i = 0; i < type->field_count && !c->bad; i++)
		skip_field(schema, c, &schema->fields.items[type->first_field + i], nesting + 1);
}

static void skip_nested(const struct read_metadata *schema, struct jfr_cursor *c, uint32_t type,
			int nesting)
{
	switch (schema->types.items[type].primitive) {
	case JFR_IS_BYTE: jfr_skip(c, 1); break;
	case JFR_IS_VARINT: jfr_get_varint(c); break;
	case JFR_IS_FLOAT: jfr_skip(c, 4); break;
	case JFR_IS_DOUBLE: jfr_skip(c, 8); break;
	case JFR_IS_STRING: jfr_get_text(c); break;
	case JFR_COMPOSITE: skip_composite(schema, c, &schema->types.items[type], nesting); break;
	}
}

void read_skip_value(const struct read_metadata *schema, struct jfr_cursor *c, uint32_t type)
{
	skip_nested(schema, c, type, 0);
}

static enum jfr_step_kind step_kind(const struct read_metadata *schema,
				    const struct jfr_field *field, bool wanted)
{
	if (field->array)
		return wanted ? JFR_STEP_ARRAY : JFR_STEP_SKIP;
	if (field->pool)
		return JFR_STEP_VARINT;
	switch (schema->types.items[field->type].primitive) {
	case JFR_IS_BYTE: return JFR_STEP_BYTE;
	case JFR_IS_VARINT: return JFR_STEP_VARINT;
	case JFR_IS_STRING: return JFR_STEP_TEXT;
	case JFR_IS_FLOAT:
	case JFR_IS_DOUBLE:
	case JFR_COMPOSITE: break;
	}
	return JFR_STEP_SKIP;
}

static uint8_t slot_of(const char *const *wanted, const char *name)
{
	for (uint8_t slot = 0; wanted[slot]; slot++)
		if (!strcmp(wanted[slot], name))
			return slot;
	return JFR_MAX_SLOTS;
}

/* A pool of strings has values without fields: slot 0. */
static void init_plain(struct read_layout *layout, const struct jfr_type *type)
{
	struct jfr_step step = { JFR_STEP_TEXT, 0, 0 };

	if (type->primitive == JFR_IS_STRING) {
		vec_push(&layout->steps, step);
		layout->found = 1;
	}
}

void jfr_layout_init(struct read_layout *layout, const struct read_metadata *schema,
		     uint32_t type_index, const char *const *wanted)
{
	const struct jfr_type *type = &schema->types.items[type_index];

	memset(layout, 0, sizeof(*layout));
	if (type->primitive != JFR_COMPOSITE) {
		init_plain(layout, type);
		return;
	}
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct jfr_field *field = &schema->fields.items[type->first_field + i];
		uint8_t slot = slot_of(wanted, field->name);
		bool is_wanted = slot < JFR_MAX_SLOTS;
		struct jfr_step step = { step_kind(schema, field, is_wanted), slot,
					 type->first_field + i };

		if (is_wanted && step.kind != JFR_STEP_SKIP)
			layout->found |= 1u << slot;
		vec_push(&layout->steps, step);
	}
}

void jfr_layout_release(struct read_layout *layout)
{
	vec_release(&layout->steps);
	layout->found = 0;
}

void read_step(const struct read_metadata *schema, const struct jfr_step *step,
	       struct jfr_cursor *c, struct jfr_values *values)
{
	switch ((enum jfr_step_kind)step->kind) {
	case JFR_STEP_VARINT: values->number[step->slot] = jfr_get_varint(c); break;
	case JFR_STEP_BYTE: values->number[step->slot] = jfr_get_byte(c); break;
	case JFR_STEP_TEXT: values->text[step->slot] = jfr_get_text(c); break;
	case JFR_STEP_ARRAY:
	case JFR_STEP_SKIP: skip_field(schema, c, &schema->fields.items[step->field], 0); break;
	}
}

void read_object(const struct read_metadata *schema, const struct read_layout *layout,
		 struct jfr_cursor *c, struct jfr_values *values)
{
	const struct jfr_step *step;

	vec_for_each (step, &layout->steps) {
		if (c->bad)
			return;
		read_step(schema, step, c, values);
	}
}
