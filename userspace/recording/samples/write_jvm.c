/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/samples/write_jvm.h"

#include <string.h>

#include "profile/compilation_reason.h"
#include "recording/samples/event_names.h"
#include "recording/samples/write_sample.h"
#include "recording/write_names.h"
#include "recording/write_values.h"

static enum jfr_type_id lock_type(const struct profile *p, const struct profile_sample *s)
{
	const char *reason = profile_get_string(p, s->reason);

	if (!strcmp(reason, JFR_BY_WAIT))
		return JFR_MONITOR_WAIT;
	return strcmp(reason, JFR_BY_PARK) ? JFR_MONITOR_ENTER : JFR_THREAD_PARK;
}

static bool is_lock(enum jfr_type_id type)
{
	return type == JFR_MONITOR_ENTER || type == JFR_MONITOR_WAIT || type == JFR_THREAD_PARK;
}

static bool is_safepoint(enum jfr_type_id type)
{
	return type == JFR_VM_OPERATION || type == JFR_SAFEPOINT_BEGIN || type == JFR_SAFEPOINT_END;
}

bool jfr_is_told_at_end(enum jfr_type_id type)
{
	return is_lock(type) || is_safepoint(type) || type == JFR_COMPILATION ||
	       type == JFR_GC_PAUSE;
}

/* Where a thread has parked the identity is of an address (profile/profile.h). */
static unsigned int address_shift(enum jfr_type_id type)
{
	return type == JFR_THREAD_PARK ? JFR_ADDRESS_SHIFT : 0;
}

static uint64_t owner_key(const struct jfr_pools *pools, const struct profile_sample *s)
{
	return s->owner ? jfr_thread_key(pools, s->owner - 1) : 0;
}

/* The class in front of the stack, as people read it. */
static uint8_t *put_class_name(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
			       const struct profile_sample *s)
{
	uint32_t frame = jfr_class_frame(p, s->stack);

	if (frame == PROFILE_NONE)
		return jfr_varint(at, 0);
	return jfr_varint(at, jfr_string_key(pools, jfr_object_class(profile_get_frame(p, frame))));
}

/* All behind the time: the JDK's fields, of which some are not known, and LOCK_FIELDS of types.c. */
static uint8_t *put_lock(uint8_t *at, enum jfr_type_id type, const struct jfr_pools *pools,
			 const struct profile *p, const struct profile_sample *s)
{
	static const uint8_t unknown[] = { [JFR_MONITOR_WAIT] = 3, [JFR_THREAD_PARK] = 2 };
	uint32_t chance = MAX(s->chance, 1U);

	at = jfr_varint(at, s->weight / chance);
	at = jfr_varint(at, jfr_thread_key(pools, s->thread));
	at = jfr_varint(at, jfr_key(pools, s->stack));
	at = jfr_varint(at, jfr_object_class_key(pools, p, s->stack));
	if (type == JFR_MONITOR_ENTER)
		at = jfr_varint(at, owner_key(pools, s));
	for (uint8_t i = 0; i < unknown[type]; i++)
		*at++ = 0;
	at = jfr_varint(at, (uint64_t)s->identity << address_shift(type));
	at = jfr_put_labels(at, pools, p, s);
	at = put_class_name(at, pools, p, s);
	at = jfr_varint(at, chance);
	at = jfr_varint(at, owner_key(pools, s));
	return jfr_put_waker(at, pools, p, s);
}

static enum jfr_type_id safepoint_type(const struct profile *p, const struct profile_sample *s)
{
	const char *reason = profile_get_string(p, s->reason);

	if (!strcmp(reason, JFR_REACHING))
		return JFR_SAFEPOINT_BEGIN;
	return strcmp(reason, JFR_LEAVING) ? JFR_VM_OPERATION : JFR_SAFEPOINT_END;
}

/* SAFEPOINT_FIELDS of types.c. */
static uint8_t *put_reasoned(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
			     const struct profile_sample *s)
{
	at = jfr_varint(at, jfr_key(pools, s->stack));
	at = jfr_put_labels(at, pools, p, s);
	return jfr_varint(at, jfr_string_key(pools, s->reason));
}

/* All behind the time: the JDK's fields, of which some are not known, and SAFEPOINT_FIELDS of types.c. */
static uint8_t *put_safepoint(uint8_t *at, enum jfr_type_id type, const struct jfr_pools *pools,
			      const struct profile *p, const struct profile_sample *s)
{
	static const uint8_t unknown[] = {
		[JFR_VM_OPERATION] = 3, [JFR_SAFEPOINT_BEGIN] = 3, [JFR_SAFEPOINT_END] = 1
	};

	at = jfr_varint(at, s->weight);
	at = jfr_varint(at, jfr_thread_key(pools, s->thread));
	if (type == JFR_VM_OPERATION) {
		at = jfr_varint(at, jfr_string_key(pools, s->reason));
		*at++ = 1; /* at a safepoint */
	}
	for (uint8_t i = 0; i < unknown[type]; i++)
		*at++ = 0;
	return put_reasoned(at, pools, p, s);
}

/* What is compiled is the first frame, which is no code. */
static uint64_t compiled_method_key(const struct jfr_pools *pools, const struct profile *p,
				    uint32_t stack)
{
	struct profile_stack frames = profile_get_stack(p, stack);

	if (!frames.len || profile_get_frame(p, frames.frames[0])->kind != FRAME_COMPILING)
		return 0;
	return jfr_key(pools, pools->frame_methods.items[frames.frames[0]]);
}

/* "C1", "C2", "JVMCI". */
#define MOST_COMPILER_BYTES 8

/* LEN bytes of a string, at most MOST, which are letters and signs. */
static uint8_t *put_short(uint8_t *at, const char *text, size_t len, size_t most)
{
	len = MIN(len, most);
	*at++ = JFR_STRING_UTF8;
	*at++ = (uint8_t)len;
	memcpy(at, text, len);
	return at + len;
}

/* The first word of REASON. */
static uint8_t *put_compiler(uint8_t *at, const char *reason)
{
	return put_short(at, reason, strcspn(reason, " ,"), MOST_COMPILER_BYTES);
}

/* All behind the time: the JDK's fields, and COMPILATION_FIELDS of types.c. */
static uint8_t *put_compilation(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
				const struct profile_sample *s)
{
	const char *reason = profile_get_string(p, s->reason),
		   *tier = strstr(reason, COMPILATION_TIER);
	uint32_t chance = MAX(s->chance, 1U);

	at = jfr_varint(at, s->weight / chance);
	at = jfr_varint(at, jfr_thread_key(pools, s->thread));
	at = jfr_varint(at, s->identity);
	at = put_compiler(at, reason);
	at = jfr_varint(at, compiled_method_key(pools, p, s->stack));
	*at++ = tier ? (uint8_t)(tier[strlen(COMPILATION_TIER)] - '0') & 7 : 0;
	*at++ = !strstr(reason, COMPILATION_FAILED);
	*at++ = strstr(reason, COMPILATION_OSR) != NULL;
	at = put_reasoned(at, pools, p, s);
	at = jfr_varint(at, s->queued / chance);
	return jfr_varint(at, chance);
}

/* All behind the time: the JDK's fields, and CLASS_FIELDS of types.c. */
static uint8_t *put_class_load(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
			       const struct profile_sample *s)
{
	at = jfr_varint(at, jfr_thread_key(pools, s->thread));
	at = jfr_varint(at, jfr_key(pools, s->stack));
	at = jfr_varint(at, jfr_object_class_key(pools, p, s->stack));
	*at++ = 0;
	at = jfr_varint(at, s->weight);
	at = jfr_put_labels(at, pools, p, s);
	return put_class_name(at, pools, p, s);
}

/* An event has 127 bytes at most. */
#define MOST_OPERATION_BYTES 40

/* The first frame has its name in brackets. */
static uint8_t *put_operation(uint8_t *at, const struct profile *p, uint32_t stack)
{
	struct profile_stack frames = profile_get_stack(p, stack);
	const struct profile_frame *frame =
		frames.len ? profile_get_frame(p, frames.frames[0]) : NULL;
	const char *name =
		frame && frame->kind == FRAME_MARK ? profile_get_string(p, frame->name) : "";

	name += *name == '[';
	return put_short(at, name, strcspn(name, "]"), MOST_OPERATION_BYTES);
}

/* All behind the time: the JDK's fields, and SAFEPOINT_FIELDS of types.c. */
static uint8_t *put_pause(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
			  const struct profile_sample *s)
{
	at = jfr_varint(at, s->weight);
	at = jfr_varint(at, jfr_thread_key(pools, s->thread));
	at = put_operation(at, p, s->stack);
	return put_reasoned(at, pools, p, s);
}

enum jfr_type_id jfr_jvm_type(enum jfr_type_id type, const struct profile *p,
			      const struct profile_sample *s)
{
	switch (type) {
	case JFR_MONITOR_ENTER: return lock_type(p, s);
	case JFR_VM_OPERATION: return safepoint_type(p, s);
	default: return type;
	}
}

uint8_t *jfr_put_jvm(uint8_t *at, enum jfr_type_id type, const struct jfr_pools *pools,
		     const struct profile *p, const struct profile_sample *s)
{
	if (is_lock(type))
		return put_lock(at, type, pools, p, s);
	if (is_safepoint(type))
		return put_safepoint(at, type, pools, p, s);
	if (type == JFR_GC_PAUSE)
		return put_pause(at, pools, p, s);
	if (type == JFR_CLASS_DEFINE)
		return put_class_load(at, pools, p, s);
	return put_compilation(at, pools, p, s);
}
