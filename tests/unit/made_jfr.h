/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata of a recording by another producer: types and fields as a test says them. */
#ifndef HOSTPROF_TESTS_MADE_JFR_H
#define HOSTPROF_TESTS_MADE_JFR_H

#include <stdarg.h>
#include <string.h>

#include "recording/read_values.h"
#include "recording/write_values.h"

struct made_field {
	const char *name, *type; /* the type's id as text */
	bool pool, array;
};

struct made_type {
	const char *name, *id;
	struct made_field fields[10];
};

struct made_metadata {
	struct strbuf strings, elements;
	uint64_t string_count;
};

static inline void made_string(struct made_metadata *m, const char *text)
{
	jfr_put_utf8(&m->strings, text, strlen(text));
	jfr_put_varint(&m->elements, m->string_count++);
}

/* Its attributes come as pairs, up to a NULL. */
static inline void made_element(struct made_metadata *m, uint64_t children, const char *name, ...)
{
	const char *attributes[16];
	size_t count = 0;
	va_list ap;

	va_start(ap, name);
	while ((attributes[count] = va_arg(ap, const char *)))
		count++;
	va_end(ap);
	made_string(m, name);
	jfr_put_varint(&m->elements, count / 2);
	for (size_t i = 0; i < count; i++)
		made_string(m, attributes[i]);
	jfr_put_varint(&m->elements, children);
}

static inline void made_class(struct made_metadata *m, const struct made_type *type)
{
	size_t fields = 0;

	while (fields < 10 && type->fields[fields].name)
		fields++;
	made_element(m, fields + 1, "class", "name", type->name, "id", type->id, "superType", "x",
		     NULL);
	made_element(m, 0, "annotation", "name", "none", NULL);
	for (size_t i = 0; i < fields; i++) {
		const struct made_field *field = &type->fields[i];

		made_element(m, 1, "field", "name", field->name, "class", field->type,
			     "constantPool", field->pool ? "true" : "false", "dimension",
			     field->array ? "1" : "0", NULL);
		made_element(m, 0, "annotation", "name", "of the field", NULL);
	}
}

/* Strings and elements, as the event's body has them. */
static inline void made_metadata(struct strbuf *out, const struct made_type *types, size_t count)
{
	struct made_metadata m = { STRBUF_INIT, STRBUF_INIT, 0 };

	made_element(&m, 2, "root", NULL);
	made_element(&m, count, "metadata", NULL);
	for (size_t i = 0; i < count; i++)
		made_class(&m, &types[i]);
	made_element(&m, 0, "region", "locale", "en_US", NULL);
	jfr_put_varint(out, m.string_count);
	strbuf_add(out, m.strings.buf, m.strings.len);
	strbuf_add(out, m.elements.buf, m.elements.len);
	strbuf_release(&m.strings);
	strbuf_release(&m.elements);
}

static inline struct jfr_cursor made_cursor(const struct strbuf *bytes)
{
	return (struct jfr_cursor){ (const uint8_t *)bytes->buf,
				    (const uint8_t *)bytes->buf + bytes->len, false };
}

#endif
