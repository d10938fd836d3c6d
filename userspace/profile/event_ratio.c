/* SPDX-License-Identifier: Apache-2.0 */
/* Names are those that perf gives the events. */
#include "profile/event_ratio.h"

#include <string.h>

#include "base/alloc.h"
#include "profile/event_sum.h"

/* Of what events that end so are a part. */
static const struct {
	const char *part, *whole;
} shares[] = {
	{ "cache-misses", "cache-references" },
	{ "branch-misses", "branches" },
	{ "branch-misses", "branch-instructions" },
	{ "branch-load-misses", "branch-loads" },
};

/* A cache's misses are a part of what they are misses of: "LLC-load-misses" of "LLC-loads". */
static const struct {
	const char *part, *whole;
} endings[] = {
	{ "-load-misses", "-loads" },
	{ "-store-misses", "-stores" },
	{ "-prefetch-misses", "-prefetches" },
};

/* An event; weight 0: it has no samples, or is measured in time or bytes. */
struct counted {
	const char *name; /* borrowed */
	uint64_t weight;
};

static bool is_one_of(const char *name, const char *a, const char *b)
{
	return !strcmp(name, a) || !strcmp(name, b);
}

static bool ends_with(const char *name, const char *ending, size_t *ret_stem)
{
	size_t len = strlen(name), its = strlen(ending);

	*ret_stem = len - MIN(its, len);
	return len > its && !strcmp(name + len - its, ending);
}

static bool is_share(const char *part, const char *whole)
{
	size_t stem, other;

	for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
		if (!strcmp(part, shares[i].part) && !strcmp(whole, shares[i].whole))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (ends_with(part, endings[i].part, &stem) &&
		    ends_with(whole, endings[i].whole, &other) && stem == other &&
		    !strncasecmp(part, whole, stem))
			return true;
	return false;
}

/* Counters of a cpu: misses, raw events and a PMU's, but none of the kernel's. */
static bool is_of_hardware(const char *name)
{
	size_t stem;

	if (strchr(name, ':'))
		return false;
	if (strchr(name, '/') || ends_with(name, "-misses", &stem) ||
	    strstr(name, "stalled-cycles"))
		return true;
	return name[0] == 'r' && name[1] &&
	       strspn(name + 1, "0123456789abcdefABCDEF") == strlen(name + 1);
}

/* What A says beside B; nothing is added where they have nothing to do with each other. */
static void add_sentence(struct strbuf *sb, const struct counted *a, const struct counted *b)
{
	double ratio = (double)a->weight / (double)b->weight;

	if (!strcmp(a->name, "instructions") && is_one_of(b->name, "cycles", "cpu-cycles"))
		strbuf_addf(sb, "%.2f instructions per cycle", ratio);
	else if (is_share(a->name, b->name))
		strbuf_addf(sb, "%.2f %% of %s are %s", 100 * ratio, b->name, a->name);
	else if (!strcmp(b->name, "instructions") && is_of_hardware(a->name))
		strbuf_addf(sb, "%.2f %s per 1,000 instructions", 1000 * ratio, a->name);
}

static struct counted count_event(const struct profile *p, uint32_t event)
{
	const struct profile_event *e = profile_get_event(p, event);
	struct counted counted = { profile_get_string(p, e->name), 0 };

	if (!strcmp(profile_get_string(p, e->unit), "count"))
		counted.weight = event_sum_of(p, event).weight;
	return counted;
}

void event_ratios_for_each(const struct profile *p, void (*fn)(const char *sentence, void *data),
			   void *data)
{
	uint32_t count = intern_len(&p->events);
	_cleanup_free_ struct counted *events = xcalloc(count + 1, sizeof(*events));

	for (uint32_t i = 0; i < count; i++)
		events[i] = count_event(p, i);
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j < count; j++) {
			_cleanup_strbuf_ struct strbuf sentence = STRBUF_INIT;

			if (i == j || !events[i].weight || !events[j].weight)
				continue;
			add_sentence(&sentence, &events[i], &events[j]);
			if (sentence.len)
				fn(strbuf_str(&sentence), data);
		}
	}
}
