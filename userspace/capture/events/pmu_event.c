// SPDX-License-Identifier: Apache-2.0
#include "capture/events/pmu_event.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/text_cursor.h"

/* The kernel's perf_event_open(2) has names of its own for what is in these. */
static const char *const config_names[PMU_CONFIGS] = { "config", "config1", "config2" };

struct parse {
	const char *name; /* the whole one, for sentences */
	const char *pmu;
	bool in_alias; /* the terms are those of an event that the PMU names */
	struct pmu_event event;
	struct err *err;
};

bool pmu_event_is_name(const char *name)
{
	return strchr(name, '/') != NULL;
}

static int malformed(const struct parse *p)
{
	err_set(p->err, -EINVAL, "'%s' is no event of a PMU", p->name);
	return err_hint(p->err, "such are PMU/NAME/ and PMU/FIELD=VALUE,…/, as in "
				"cpu/event=0x3c,umask=0x0/; " PMU_SYSFS " has the PMUs");
}

/* "60", "0x3c"; no sign and no blanks. */
static bool parse_value(const char *text, uint64_t *ret_value)
{
	struct text_cursor cursor = { text, text + strlen(text) };

	return text_take_c_number(&cursor, ret_value) && cursor.at == cursor.end;
}

static int take_terms(struct parse *p, char *terms);

/* A name alone: an event of the PMU. -ENOENT: it has none of that name. */
static int take_alias(struct parse *p, const char *key)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT, text = STRBUF_INIT;
	int r;

	strbuf_addf(&path, "events/%s", key);
	if (p->in_alias || !pmu_is_word(key) || pmu_read(p->pmu, strbuf_str(&path), &text) < 0)
		return -ENOENT;
	text.len = strcspn(strbuf_str(&text), "\n");
	text.buf[text.len] = '\0';
	p->in_alias = true;
	r = take_terms(p, text.buf);
	p->in_alias = false;
	return r;
}

static int unknown_term(const struct parse *p, const char *key)
{
	err_set(p->err, -EINVAL, "'%s': PMU %s has neither a field nor an event '%s'", p->name,
		p->pmu, key);
	return err_hint(p->err, "they are in " PMU_SYSFS "/%s/format and …/events", p->pmu);
}

static int take_field(struct parse *p, const char *key, uint64_t value)
{
	struct pmu_field field;
	int r = pmu_field_find(p->pmu, key, &field);

	if (r == -ENOENT)
		return unknown_term(p, key);
	if (r < 0)
		return err_set(p->err, -EINVAL, "'%s': the format of '%s' is none that is known",
			       p->name, key);
	if (value > pmu_field_limit(&field))
		return err_set(p->err, -EINVAL, "'%s': %s goes up to 0x%llx", p->name, key,
			       (unsigned long long)pmu_field_limit(&field));
	pmu_field_put(&field, value, p->event.configs);
	return 0;
}

/* What every PMU has. */
static bool take_common(struct parse *p, const char *key, uint64_t value)
{
	for (size_t i = 0; i < PMU_CONFIGS; i++) {
		if (strcmp(key, config_names[i]) != 0)
			continue;
		p->event.configs[i] = value;
		return true;
	}
	if (strcmp(key, "period") != 0 || !value)
		return false;
	p->event.period = value;
	return true;
}

/* A PMU may leave a value of an event that it names to the user, as "event=?": that is no number either. */
static int take_term(struct parse *p, char *term)
{
	char *equals = strchr(term, '=');
	uint64_t value;
	int r;

	if (!equals) {
		r = take_alias(p, term);
		return r == -ENOENT ? take_field(p, term, 1) : r;
	}
	*equals = '\0';
	if (!parse_value(equals + 1, &value))
		return err_set(p->err, -EINVAL, "'%s': '%s' is no number for %s", p->name,
			       equals + 1, term);
	return take_common(p, term, value) ? 0 : take_field(p, term, value);
}

static int take_terms(struct parse *p, char *terms)
{
	char *save = NULL;
	int r = 0;

	for (char *term = strtok_r(terms, ",", &save); term && r == 0;
	     term = strtok_r(NULL, ",", &save))
		r = take_term(p, term);
	return r;
}

/* Events of these have names, and samples of other programs. */
static bool is_other(uint32_t type)
{
	return type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT ||
	       type == PERF_TYPE_BREAKPOINT;
}

int pmu_event_parse(const char *name, struct pmu_event *ret_event, struct err *err)
{
	_cleanup_free_ char *text = xstrdup(name);
	struct parse p = { .name = name, .pmu = text, .err = err };
	char *terms = strchr(text, '/');
	size_t len = terms ? strlen(terms) : 0;
	int r;

	if (len < 3 || terms == text || terms[len - 1] != '/' ||
	    strchr(terms + 1, '/') != terms + len - 1)
		return malformed(&p);
	terms[len - 1] = *terms = '\0';
	if (!pmu_is_word(p.pmu))
		return malformed(&p);
	if (pmu_type(p.pmu, &p.event.type) < 0) {
		err_set(err, -ENOENT, "'%s': there is no PMU '%s' here", name, p.pmu);
		return err_hint(err, "hostprof list events says what there is; virtual machines "
				     "often have no hardware counters");
	}
	if (is_other(p.event.type))
		return malformed(&p);
	r = take_terms(&p, terms + 1);
	if (r == 0)
		*ret_event = p.event;
	return r;
}

/* --- what there is ---------------------------------------------------------------------------- */

/* Beside events there are their scales and units. */
static int is_event_file(const struct dirent *entry)
{
	return pmu_is_word(entry->d_name) && !strchr(entry->d_name, '.');
}

static void tell_events(const char *pmu, void (*fn)(const char *name, void *data), void *data)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT, name = STRBUF_INIT;
	struct dirent **entries;
	int count;

	strbuf_addf(&path, PMU_SYSFS "/%s/events", pmu);
	count = scandir(strbuf_str(&path), &entries, is_event_file, alphasort);
	for (int i = 0; i < count; i++) {
		strbuf_reset(&name);
		strbuf_addf(&name, "%s/%s/", pmu, entries[i]->d_name);
		fn(strbuf_str(&name), data);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

void pmu_event_for_each(void (*fn)(const char *name, void *data), void *data)
{
	struct dirent **entries;
	int count = scandir(PMU_SYSFS, &entries, is_event_file, alphasort);

	for (int i = 0; i < count; i++) {
		tell_events(entries[i]->d_name, fn, data);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}
