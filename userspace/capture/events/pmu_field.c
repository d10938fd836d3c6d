// SPDX-License-Identifier: Apache-2.0
/* The kernel's Documentation/ABI/testing/sysfs-bus-event_source-devices-format has the form of these files. */
#include "capture/events/pmu_field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text/text_cursor.h"

#define MAX_FILE_BYTES 4096
#define MAX_WORD       128

bool pmu_is_word(const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.-";
	size_t len = strlen(text);

	return len > 0 && len <= MAX_WORD && text[0] != '.' && strspn(text, allowed) == len;
}

int pmu_read(const char *pmu, const char *name, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

	strbuf_addf(&path, PMU_SYSFS "/%s/%s", pmu, name);
	return file_read(strbuf_str(&path), MAX_FILE_BYTES, out);
}

int pmu_type(const char *pmu, uint32_t *ret_type)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (!pmu_is_word(pmu) || pmu_read(pmu, "type", &text) < 0)
		return -ENOENT;
	*ret_type = (uint32_t)strtoul(strbuf_str(&text), NULL, 10);
	return 0;
}

int pmu_field_find(const char *pmu, const char *name, struct pmu_field *ret_field)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT, text = STRBUF_INIT;

	if (!pmu_is_word(pmu) || !pmu_is_word(name))
		return -ENOENT;
	strbuf_addf(&path, "format/%s", name);
	if (pmu_read(pmu, strbuf_str(&path), &text) < 0)
		return -ENOENT;
	return pmu_field_parse(strbuf_str(&text), ret_field);
}

/* "config", "config1" or "config2", and the colon. */
static bool take_config(struct text_cursor *text, unsigned int *ret_config)
{
	*ret_config = 0;
	if (!text_take_prefix(text, "config"))
		return false;
	if (text_take_char(text, '1'))
		*ret_config = 1;
	else if (text_take_char(text, '2'))
		*ret_config = 2;
	return text_take_char(text, ':');
}

/* "3" or "0-7". */
static bool take_bits(struct text_cursor *text, uint64_t *mask)
{
	uint64_t first, last;

	if (!text_take_number(text, 10, &first))
		return false;
	last = first;
	if (text_take_char(text, '-') && !text_take_number(text, 10, &last))
		return false;
	if (last > 63 || first > last)
		return false;
	*mask |= UINT64_MAX >> (63 - last) & UINT64_MAX << first;
	return true;
}

int pmu_field_parse(const char *text, struct pmu_field *ret_field)
{
	struct text_cursor cursor = { text, text + strlen(text) };
	struct pmu_field field = { 0, 0 };

	if (!take_config(&cursor, &field.config))
		return -EBADMSG;
	do {
		if (!take_bits(&cursor, &field.mask))
			return -EBADMSG;
	} while (text_take_char(&cursor, ','));
	text_take_char(&cursor, '\n');
	if (cursor.at != cursor.end)
		return -EBADMSG;
	*ret_field = field;
	return 0;
}

uint64_t pmu_field_limit(const struct pmu_field *field)
{
	int bits = __builtin_popcountll(field->mask);

	return bits ? UINT64_MAX >> (64 - bits) : 0;
}

void pmu_field_put(const struct pmu_field *field, uint64_t value, uint64_t configs[PMU_CONFIGS])
{
	uint64_t *config = &configs[field->config];

	*config &= ~field->mask;
	for (unsigned int bit = 0; bit < 64; bit++) {
		if (!(field->mask >> bit & 1))
			continue;
		*config |= (value & 1) << bit;
		value >>= 1;
	}
}
