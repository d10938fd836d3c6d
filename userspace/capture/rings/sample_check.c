// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "capture/rings/record_check.h"
#include "wire.h"

static bool is_mark(uint64_t word)
{
	uint64_t mark = word & WIRE_FRAME_ADDRESS_MASK;

	return mark > 0 && mark < WIRE_MARK_COUNT;
}

/* The user words are whole frames of known kinds, as many as the header says. */
static int check_frames(const struct wire_sample *sample)
{
	const uint64_t *words = sample->words + sample->kernel_frames;
	uint32_t frames = 0, at = 0;

	for (; at < sample->user_words; frames++) {
		uint32_t len = wire_frame_words(words[at]);

		if (len == 0)
			return -EBADMSG;
		if (words[at] >> WIRE_FRAME_KIND_SHIFT == WIRE_FRAME_MARK && !is_mark(words[at]))
			return -EBADMSG;
		at += len;
	}
	return at == sample->user_words && frames == sample->user_frames ? 0 : -EBADMSG;
}

/* What stands behind the words begins with so many bytes. */
static bool take_head(const struct wire_sample *sample, void *ret_head, size_t bytes)
{
	if (sample->name_width != 1 || sample->name_bytes < bytes)
		return false;
	memcpy(ret_head, sample->words + sample->kernel_frames + sample->user_words, bytes);
	return true;
}

static int check_compilation(const struct wire_sample *sample)
{
	struct wire_compilation head;

	if (!take_head(sample, &head, sizeof(head)))
		return -EBADMSG;
	if (head.class_bytes > WIRE_COMPILED_CLASS_BYTES ||
	    head.method_bytes > WIRE_COMPILED_METHOD_BYTES ||
	    head.signature_bytes > WIRE_COMPILED_SIGNATURE_BYTES || !head.chance)
		return -EBADMSG;
	return sample->name_bytes == sizeof(head) + head.class_bytes + head.method_bytes +
					     head.signature_bytes
		       ? 0
		       : -EBADMSG;
}

static int check_class_load(const struct wire_sample *sample)
{
	struct wire_class_load head;

	if (!take_head(sample, &head, sizeof(head)))
		return -EBADMSG;
	if (head.class_bytes > WIRE_LOADED_CLASS_BYTES || !head.chance)
		return -EBADMSG;
	return sample->name_bytes == sizeof(head) + head.class_bytes ? 0 : -EBADMSG;
}

static int check_gc(const struct wire_sample *sample)
{
	struct wire_gc_pause pause;

	if (!take_head(sample, &pause, sizeof(pause)) || sample->name_bytes != sizeof(pause))
		return -EBADMSG;
	return 0;
}

/* A name has whole chars, and of a compilation there are so many bytes as it says. */
static int check_name(const struct wire_sample *sample)
{
	const uint32_t width = sample->name_width;

	if (sample->text == WIRE_TEXT_COMPILATION)
		return check_compilation(sample);
	if (sample->text == WIRE_TEXT_GC)
		return check_gc(sample);
	if (sample->text == WIRE_TEXT_CLASS_LOAD)
		return check_class_load(sample);
	if (!sample->name_bytes)
		return 0;
	if (width != 1 && width != 2)
		return -EBADMSG;
	return sample->name_bytes > WIRE_NAME_BYTES || sample->name_bytes % width ? -EBADMSG : 0;
}

int sample_check(const void *data, size_t len)
{
	const struct wire_sample *sample = data;
	size_t words;

	if (len < sizeof(*sample) || sample->size != len || sample->kind != WIRE_SAMPLE)
		return -EBADMSG;
	words = (size_t)sample->kernel_frames + sample->user_words +
		WIRE_NAME_WORDS(sample->name_bytes);
	if (len != sizeof(*sample) + words * sizeof(sample->words[0]))
		return -EBADMSG;
	if (sample->reason >= UNWIND_REASON_COUNT || sample->event >= WIRE_MAX_EVENTS)
		return -EBADMSG;
	if (sample->state >= WIRE_STATE_COUNT || sample->cause >= WIRE_CAUSE_COUNT ||
	    sample->waker >= WIRE_WAKER_COUNT || sample->text >= WIRE_TEXT_COUNT)
		return -EBADMSG;
	return check_name(sample) < 0 ? -EBADMSG : check_frames(sample);
}

int span_check(const void *data, size_t len)
{
	const struct wire_span *span = data;

	if (len != sizeof(*span) || span->size != len || span->kind != WIRE_SPAN)
		return -EBADMSG;
	if (span->event >= WIRE_MAX_EVENTS || span->halved > WIRE_OFFCPU_MOST_HALVED)
		return -EBADMSG;
	if (span->length_ns > UINT64_MAX >> WIRE_OFFCPU_MOST_HALVED)
		return -EBADMSG;
	if (span->length_ns && span->queued_ns > span->length_ns)
		return -EBADMSG;
	return span->weight_ns > INT64_MAX ? -EBADMSG : 0;
}

int lock_begin_check(const void *data, size_t len)
{
	const struct wire_lock_begin *begin = data;

	if (len != sizeof(*begin) || begin->size != len || begin->kind != WIRE_LOCK_BEGIN)
		return -EBADMSG;
	return begin->begin_ns > WIRE_OWNER_VALUE_MASK ? -EBADMSG : 0;
}

int parked_check(const void *data, size_t len)
{
	const struct wire_parked *parked = data;

	if (len < sizeof(*parked) || parked->size > len ||
	    parked->kernel_frames > WIRE_MAX_KERNEL_FRAMES ||
	    parked->size != sizeof(*parked) + parked->kernel_frames * sizeof(parked->words[0]))
		return -EBADMSG;
	if (parked->state >= WIRE_STATE_COUNT || parked->cause >= WIRE_CAUSE_COUNT)
		return -EBADMSG;
	return 0;
}
