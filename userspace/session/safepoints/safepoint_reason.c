// SPDX-License-Identifier: Apache-2.0
#include "session/safepoints/safepoint_reason.h"

#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "symbolize/waits/wait.h"
#include "symbolize/words/sample_words.h"

/* A name is at most so long; more is nobody's. */
#define MOST_NAME_BYTES 64

/*
 * What such names begin with: serial and parallel collectors (GenCollect…, SerialCollect…, ParallelGC…, ParallelCollect…, PS…), G1 (G1…,
 * CGC_Operation until 15), CMS, ZGC (Z…, X… of 21 to 23), Shenandoah, and who asks for a collection.
 */
static const char *const of_collectors[] = {
	"GenCollect", "Serial",	   "Parallel",	"PS",	      "G1",	    "CGC_Operation",
	"CMS_",	      "ZMark",	   "ZRelocate", "ZVerify",    "ZYoung",	    "ZOld",
	"XMark",      "XRelocate", "XVerify",	"Shenandoah", "CollectFor", "GC_HeapInspection",
};

bool safepoint_is_gc(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(of_collectors); i++)
		if (!strncmp(name, of_collectors[i], strlen(of_collectors[i])))
			return true;
	return false;
}

/* The JVM's memory may say anything. */
static bool take_name(const struct wire_sample *sample, char *name, size_t size)
{
	size_t count;
	const char *chars = sample_words_text(sample, &count);

	if (!chars || !count || count >= size || sample->name_width != 1)
		return false;
	for (size_t i = 0; i < count; i++)
		name[i] = chars[i] > ' ' && chars[i] < 0x7f && chars[i] != ';' ? chars[i] : '?';
	name[count] = '\0';
	return true;
}

uint32_t safepoint_reason(struct profile *p, const struct wire_sample *sample)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char name[MOST_NAME_BYTES];

	if (!take_name(sample, name, sizeof(name)))
		return profile_string(p, wait_reason(sample->cause));
	strbuf_addf(&text, "%s%s", safepoint_is_gc(name) ? SAFEPOINT_GC_PREFIX : "", name);
	return profile_string(p, strbuf_str(&text));
}
