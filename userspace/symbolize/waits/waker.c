/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/waits/waker.h"

#include <string.h>

/* What a frame of the kernel is to an interrupt. */
enum part {
	PART_OTHER,
	PART_ENTRY,   /* arch/x86/include/asm/idtentry.h: one has come, whatever ran */
	PART_SOFTIRQ, /* its second half begins, kernel/softirq.c */
	PART_LOCAL,   /* in that what this cpu has sent to its own host arrives, net/core/dev.c */
	PART_OWN,     /* its second half is all that this thread does */
};

/* A '*' stands for any end. */
static const struct {
	const char *name;
	enum part part;
} parts[] = {
	{ "asm_sysvec_*", PART_ENTRY },	   { "asm_common_interrupt", PART_ENTRY },
	{ "asm_exc_nmi", PART_ENTRY },	   { "handle_softirqs*", PART_SOFTIRQ },
	{ "__do_softirq", PART_SOFTIRQ },  { "__softirqentry_text_start", PART_SOFTIRQ },
	{ "process_backlog", PART_LOCAL }, { "run_ksoftirqd", PART_OWN },
};

static bool is_name(const char *name, const char *text)
{
	size_t len = strlen(name);

	return name[len - 1] == '*' ? !strncmp(name, text, len - 1) : !strcmp(name, text);
}

static enum part part_of(const struct profile *profile, const struct profile_frame *frame)
{
	const char *text = profile_get_string(profile, frame->name);

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (is_name(parts[i].name, text))
			return parts[i].part;
	return PART_OTHER;
}

/* How many frames of the kernel the stack begins with. */
static uint32_t kernel_frames(const struct profile *profile, struct profile_stack stack)
{
	uint32_t len = 0;

	while (len < stack.len &&
	       profile_get_frame(profile, stack.frames[len])->kind == FRAME_KERNEL)
		len++;
	return len;
}

bool waker_is_thread(const struct profile *profile, uint32_t stack, unsigned int waker)
{
	struct profile_stack frames = profile_get_stack(profile, stack);
	uint32_t len = kernel_frames(profile, frames);
	bool is_softirq = false, is_local = false, has_names = false;

	if (waker != WIRE_WAKER_UNSURE)
		return waker == WIRE_WAKER_THREAD;
	for (uint32_t i = 0; i < len; i++) {
		const struct profile_frame *frame = profile_get_frame(profile, frames.frames[i]);
		enum part part = part_of(profile, frame);

		if (part == PART_ENTRY || part == PART_OWN)
			return part == PART_OWN;
		is_softirq |= part == PART_SOFTIRQ;
		is_local |= part == PART_LOCAL;
		has_names |= frame->name != 0;
	}
	return has_names && (is_local || !is_softirq);
}

uint32_t waker_interrupt_stack(struct profile *profile, uint32_t stack)
{
	struct profile_stack frames = profile_get_stack(profile, stack);
	uint32_t len = kernel_frames(profile, frames);

	for (uint32_t i = 0; i < len; i++)
		if (part_of(profile, profile_get_frame(profile, frames.frames[i])) == PART_ENTRY)
			len = i + 1;
	return profile_stack(profile, frames.frames, len);
}
