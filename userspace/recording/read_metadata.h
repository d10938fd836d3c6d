/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of a chunk as its metadata event tells them, and reading values by them: wanted fields
 * are found by name, all others are skipped by their type. So files of other producers and of other
 * versions of ours can be read.
 */
#ifndef HOSTPROF_RECORDING_READ_METADATA_H
#define HOSTPROF_RECORDING_READ_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hmap.h"
#include "base/vec.h"
#include "recording/read_values.h"

#define JFR_NO_TYPE UINT32_MAX

enum jfr_primitive {
	JFR_COMPOSITE, /* has fields */
	JFR_IS_BYTE,   /* boolean, byte */
	JFR_IS_VARINT, /* char, short, int, long */
	JFR_IS_FLOAT,
	JFR_IS_DOUBLE,
	JFR_IS_STRING,
};

struct jfr_field {
	const char *name; /* borrowed from the schema */
	uint64_t type_id;
	uint32_t type; /* index */
	bool pool, array;
};

struct jfr_type {
	const char *name; /* borrowed from the schema */
	uint64_t id;
	enum jfr_primitive primitive;
	uint32_t first_field, field_count;
};

struct read_metadata {
	struct intern strings;
	VEC(uint32_t) numbers; /* string of each number of the metadata event */
	VEC(struct jfr_type) types;
	VEC(struct jfr_field) fields;
	struct hmap by_id; /* type id to index */
};

void jfr_schema_init(struct read_metadata *schema);
void jfr_schema_release(struct read_metadata *schema);

/* BODY: the metadata event from its strings on. -EBADMSG when it is malformed. */
int jfr_schema_parse(struct read_metadata *schema, struct jfr_cursor body);

/* Index of a type, JFR_NO_TYPE when it is not there. */
uint32_t jfr_schema_find(const struct read_metadata *schema, const char *name);
uint32_t jfr_schema_find_id(const struct read_metadata *schema, uint64_t id);

/* Step over one value. */
void read_skip_value(const struct read_metadata *schema, struct jfr_cursor *c, uint32_t type);

/* --- objects by wanted fields ----------------------------------------------------------------- */

#define JFR_MAX_SLOTS 24

enum jfr_step_kind {
	JFR_STEP_VARINT, /* numbers and keys */
	JFR_STEP_BYTE,
	JFR_STEP_TEXT,
	JFR_STEP_ARRAY, /* of wanted objects: the reader of the type takes over */
	JFR_STEP_SKIP,
};

struct jfr_step {
	uint8_t kind; /* enum jfr_step_kind */
	uint8_t slot; /* JFR_MAX_SLOTS when nobody wants it */
	uint32_t field;
};

struct read_layout {
	VEC(struct jfr_step) steps;
	uint32_t found; /* bit per slot that the type has */
};

struct jfr_values {
	uint64_t number[JFR_MAX_SLOTS + 1];
	struct jfr_text text[JFR_MAX_SLOTS + 1];
};

/* WANTED ends with NULL; its order numbers the slots. */
void jfr_layout_init(struct read_layout *layout, const struct read_metadata *schema, uint32_t type,
		     const char *const *wanted);
void jfr_layout_release(struct read_layout *layout);

/* Read one object. Slots that the type does not have keep their values. */
void read_object(const struct read_metadata *schema, const struct read_layout *layout,
		 struct jfr_cursor *c, struct jfr_values *values);

/* One step of it. */
void read_step(const struct read_metadata *schema, const struct jfr_step *step,
	       struct jfr_cursor *c, struct jfr_values *values);

#endif
