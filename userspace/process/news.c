/* SPDX-License-Identifier: Apache-2.0 */
#include "process/news.h"

void process_news_release(struct process_news *news)
{
	hmap_release(&news->recent);
	hmap_release(&news->older);
}

/* Those that are applied go by the lot, so that memory is bounded by what is held back. */
void process_news_put(struct process_news *news, uint32_t pid, uint64_t time_ns,
		      uint64_t applied_ns)
{
	struct hmap empty = news->older;

	if (news->older_newest_ns <= applied_ns) {
		news->older = news->recent;
		news->older_newest_ns = news->newest_ns;
		hmap_clear(&empty);
		news->recent = empty;
	}
	hmap_put(&news->recent, pid, time_ns);
	news->newest_ns = MAX(news->newest_ns, time_ns);
}

bool process_news_has(const struct process_news *news, uint32_t pid, uint64_t time_ns,
		      uint64_t applied_ns)
{
	uint64_t news_ns;

	if (!hmap_get(&news->recent, pid, &news_ns) && !hmap_get(&news->older, pid, &news_ns))
		return false;
	return news_ns > applied_ns && news_ns <= time_ns;
}
