/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

/* The first row is what a bare number means. */
static const struct unit duration_units[] = {
	{ "", 1000000000 },  { "ns", 1 },	   { "us", 1000 },	   { "ms", 1000000 },
	{ "s", 1000000000 }, { "m", 60000000000 }, { "min", 60000000000 }, { "h", 3600000000000 },
	{ NULL, 0 },
};

static const struct unit byte_units[] = {
	{ "", 1 },	     { "b", 1 },	   { "k", 1 << 10 }, { "kb", 1 << 10 },
	{ "m", 1 << 20 },    { "mb", 1 << 20 },	   { "g", 1 << 30 }, { "gb", 1 << 30 },
	{ "t", 1ULL << 40 }, { "tb", 1ULL << 40 }, { NULL, 0 },
};

static const struct unit count_units[] = {
	{ "", 1 }, { "k", 1000 }, { "m", 1000000 }, { "g", 1000000000 }, { NULL, 0 },
};

static bool mul_add(uint64_t *value, uint64_t factor, uint64_t add)
{
	return !__builtin_mul_overflow(*value, factor, value) &&
	       !__builtin_add_overflow(*value, add, value);
}

/* Digits up to something else; -EINVAL when there is none. */
static int take_digits(const char **s, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (!isdigit((unsigned char)**s))
		return -EINVAL;
	for (; isdigit((unsigned char)**s); (*s)++)
		if (!mul_add(&value, 10, (uint64_t)(**s - '0')))
			return -ERANGE;
	*ret_value = value;
	return 0;
}

int units_parse_u64(const char *s, uint64_t *ret_value)
{
	uint64_t value;
	int rc = take_digits(&s, &value);

	if (rc)
		return rc;
	if (*s)
		return -EINVAL;
	*ret_value = value;
	return 0;
}

static const struct unit *find_unit(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (!strcasecmp(units->name, name))
			return units;
	return NULL;
}

/* What ".25" of FACTOR is; digits beyond the ninth are below any use and only checked. */
static int take_fraction(const char **s, uint64_t *ret_billionths)
{
	uint64_t value = 0, weight = 100000000;

	if (!isdigit((unsigned char)**s))
		return -EINVAL;
	for (; isdigit((unsigned char)**s); (*s)++, weight /= 10)
		value += weight * (uint64_t)(**s - '0');
	*ret_billionths = value;
	return 0;
}

static int parse_with_unit(const char *s, const struct unit *units, uint64_t *ret_value)
{
	uint64_t value, billionths = 0;
	const struct unit *unit;
	int rc = take_digits(&s, &value);

	if (!rc && *s == '.') {
		s++;
		rc = take_fraction(&s, &billionths);
	}
	if (rc)
		return rc;
	unit = find_unit(units, s);
	if (!unit)
		return -EINVAL;
	billionths = (uint64_t)((__uint128_t)billionths * unit->factor / 1000000000);
	if (!mul_add(&value, unit->factor, billionths))
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int units_parse_duration(const char *s, uint64_t *ret_ns)
{
	return parse_with_unit(s, duration_units, ret_ns);
}

int units_parse_bytes(const char *s, uint64_t *ret_bytes)
{
	return parse_with_unit(s, byte_units, ret_bytes);
}

int units_parse_count(const char *s, uint64_t *ret_count)
{
	return parse_with_unit(s, count_units, ret_count);
}

/*
 * The biggest unit in which the value is at least one, after rounding: 999,960 us is "1 s" and not
 * "1000 ms". One decimal below a hundred, unless it is a zero.
 */
static void format_scaled(struct strbuf *sb, uint64_t value, const struct unit *units)
{
	const struct unit *u = units;
	uint64_t tenths;

	while (u[1].name && (double)value * 10 / (double)u->factor + 0.5 >=
				    (double)u[1].factor * 10 / (double)u->factor)
		u++;
	tenths = (uint64_t)((double)value * 10 / (double)u->factor + 0.5);
	if (tenths >= 1000)
		tenths = (tenths + 5) / 10 * 10;
	if (tenths % 10)
		strbuf_addf(sb, "%llu.%llu %s", (unsigned long long)tenths / 10,
			    (unsigned long long)tenths % 10, u->name);
	else
		strbuf_addf(sb, "%llu %s", (unsigned long long)tenths / 10, u->name);
}

void units_format_bytes(struct strbuf *sb, uint64_t bytes)
{
	static const struct unit units[] = {
		{ "B", 1 },	   { "kB", 1 << 10 },	 { "MB", 1 << 20 },
		{ "GB", 1 << 30 }, { "TB", 1ULL << 40 }, { NULL, 0 },
	};

	format_scaled(sb, bytes, units);
}

void units_format_duration(struct strbuf *sb, uint64_t ns)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { NULL, 0 },
	};
	static const struct unit long_units[] = {
		{ "min", 60000000000 },
		{ "h", 3600000000000 },
		{ NULL, 0 },
	};

	/* Up to five minutes seconds read better. */
	format_scaled(sb, ns, ns < 300000000000 ? units : long_units);
}

void units_format_count(struct strbuf *sb, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			strbuf_addch(sb, ',');
		strbuf_addch(sb, digits[i]);
	}
}

void units_format_value(struct strbuf *sb, uint64_t value, const char *unit)
{
	if (!strcmp(unit, "nanoseconds"))
		units_format_duration(sb, value);
	else if (!strcmp(unit, "bytes"))
		units_format_bytes(sb, value);
	else
		units_format_count(sb, value);
}
