/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/write_pools.h"

#include "profile/frame_kind.h"
#include "recording/write_names.h"
#include "recording/write_values.h"

/* Of what is no method, or one of which it is not known: tools expect one. */
static const char no_descriptor[] = "()V";

/* Followed by the thread's name. */
struct thread_identity {
	struct profile_process process; /* without its strings */
	uint32_t tid, java_tid;
};

void jfr_pools_init(struct jfr_pools *pools, struct jfr_stable *stable, uint64_t chunk)
{
	memset(pools, 0, sizeof(*pools));
	pools->stable = stable;
	pools->parity = chunk & 1;
	intern_init(&pools->symbols);
	intern_init(&pools->classes);
	intern_init(&pools->methods);
}

void jfr_pools_release(struct jfr_pools *pools)
{
	intern_release(&pools->symbols);
	intern_release(&pools->classes);
	intern_release(&pools->methods);
	vec_release(&pools->class_keys);
	vec_release(&pools->thread_keys);
	vec_release(&pools->string_symbols);
	vec_release(&pools->frame_methods);
	strbuf_release(&pools->scratch);
}

/* A text of our own as a symbol; only before the checkpoint that will hold it. */
static uint32_t symbol_of(struct jfr_pools *pools, const char *text, size_t len)
{
	struct strbuf *clean = &pools->scratch;

	strbuf_reset(clean);
	jfr_clean_text(clean, text, len);
	return intern_put(&pools->symbols, strbuf_str(clean), clean->len, NULL);
}

static uint32_t class_of_symbol(struct jfr_pools *pools, uint32_t symbol)
{
	bool is_new;
	uint32_t id = intern_put(&pools->classes, &symbol, sizeof(symbol), &is_new);

	if (is_new) {
		size_t len;
		const void *name = intern_get(&pools->symbols, symbol, &len);

		vec_push(&pools->class_keys, jfr_stable_key(&pools->stable->classes, name, len));
	}
	return id;
}

static uint32_t thread_key(struct jfr_pools *pools, const struct profile *p,
			   const struct profile_thread *t)
{
	struct thread_identity identity = { .tid = t->tid, .java_tid = t->java_tid };
	struct strbuf *key = &pools->scratch;

	if (t->process != PROFILE_NONE) {
		const struct profile_process *proc = profile_get_process(p, t->process);

		identity.process.pid = proc->pid;
		identity.process.exec_count = proc->exec_count;
		identity.process.start_ns = proc->start_ns;
	}
	strbuf_reset(key);
	strbuf_add(key, &identity, sizeof(identity));
	strbuf_addstr(key, profile_get_string(p, t->name));
	return jfr_stable_key(&pools->stable->threads, key->buf, key->len);
}

static uint32_t frame_method(struct jfr_pools *pools, const struct profile *p,
			     const struct profile_frame *f)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct jfr_method method;

	jfr_class_name(&name, p, f);
	method.class_id = class_of_symbol(pools, symbol_of(pools, strbuf_str(&name), name.len));
	strbuf_reset(&name);
	jfr_method_name(&name, p, f);
	method.name = symbol_of(pools, strbuf_str(&name), name.len);
	method.descriptor = f->descriptor ? pools->string_symbols.items[f->descriptor] : 0;
	return intern_put(&pools->methods, &method, sizeof(method), NULL);
}

uint32_t jfr_class_frame(const struct profile *p, uint32_t stack)
{
	struct profile_stack frames = profile_get_stack(p, stack);

	if (!frames.len || !frame_kind_is_class(profile_get_frame(p, frames.frames[0])->kind))
		return PROFILE_NONE;
	return frames.frames[0];
}

void jfr_pools_update(struct jfr_pools *pools, const struct profile *p)
{
	uint32_t id;

	if (!intern_len(&pools->symbols))
		symbol_of(pools, no_descriptor, sizeof(no_descriptor) - 1);
	for (id = (uint32_t)pools->string_symbols.len; id < intern_len(&p->strings); id++) {
		size_t len;
		const char *s = intern_get(&p->strings, id, &len);

		vec_push(&pools->string_symbols, symbol_of(pools, s, len));
	}
	for (id = (uint32_t)pools->frame_methods.len; id < intern_len(&p->frames); id++)
		vec_push(&pools->frame_methods, frame_method(pools, p, profile_get_frame(p, id)));
	for (id = (uint32_t)pools->thread_keys.len; id < intern_len(&p->threads); id++)
		vec_push(&pools->thread_keys, thread_key(pools, p, profile_get_thread(p, id)));
}
