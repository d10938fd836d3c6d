// SPDX-License-Identifier: Apache-2.0
#include "frame_names.h"

#include <errno.h>
#include <string.h>

#include "base/hmap.h"
#include "base/strbuf.h"
#include "jvm/names/method_chain.h"
#include "jvm/names/method_name.h"
#include "process/mappings.h"

struct frame_names {
	const struct vmstructs *vs;
	const struct jvm_layout *layout;
	struct method_names *methods;
	struct process process;
	struct hmap by_frame; /* hash of a frame -> its name */
};

struct frame_names *frame_names_new(uint32_t pid, const struct vmstructs *vs,
				    const struct jvm_layout *layout)
{
	struct frame_names *names = xcalloc(1, sizeof(*names));

	names->vs = vs;
	names->layout = layout;
	names->methods = method_names_new(vmstructs_memory(vs), layout);
	names->process.pid = pid;
	mappings_read(&names->process);
	return names;
}

void frame_names_free(struct frame_names *names)
{
	uint64_t key, value;

	if (!names)
		return;
	for (size_t at = 0; hmap_next(&names->by_frame, &at, &key, &value);)
		free((char *)(uintptr_t)value);
	hmap_release(&names->by_frame);
	method_names_free(names->methods);
	mappings_clear(&names->process);
	vec_release(&names->process.mappings);
	free(names);
}

static void add_method(struct frame_names *names, uint64_t method, struct strbuf *name)
{
	struct method_chain chain;
	struct java_frame frame;
	int r;

	free(method_chains_follow(vmstructs_memory(names->vs), names->layout, &method,
				  &(bool){ false }, 1, &chain, &r));
	if (r < 0 || method_names_find(names->methods, method, chain.const_method, chain.identity,
				       0, &frame) < 0)
		strbuf_addf(name, "?%#lx", (unsigned long)method);
	else
		strbuf_addf(name, "%s.%s", frame.class_name, frame.method);
}

static void add_blob(struct frame_names *names, uint64_t address, struct strbuf *name)
{
	struct code_blob blob;

	if (code_blob_find(names->vs, address, &blob) < 0) {
		strbuf_addstr(name, "?blob");
	} else if (!blob.method) {
		strbuf_addf(name, "S:%s", blob.name);
	} else {
		bool native = strcmp(blob.name, "native nmethod") == 0;

		strbuf_addstr(name, native ? "W:" : blob.is_osr ? "O:" : "C:");
		add_method(names, blob.method, name);
	}
}

static void add_native(struct frame_names *names, uint64_t address, struct strbuf *name)
{
	const struct mapping *m = process_find_mapping(&names->process, address);
	const char *slash;

	if (!m) {
		mappings_clear(&names->process);
		mappings_read(&names->process);
		m = process_find_mapping(&names->process, address);
	}
	slash = m ? strrchr(m->path, '/') : NULL;
	strbuf_addf(name, "N:%s", slash ? slash + 1 : m ? m->path : "nowhere");
}

static char *make_name(struct frame_names *names, const struct live_frame *frame)
{
	uint64_t address = frame->words[0] & WIRE_FRAME_ADDRESS_MASK;
	struct strbuf name = STRBUF_INIT;

	switch (live_frame_kind(frame)) {
	case WIRE_FRAME_INTERPRETED:
		strbuf_addstr(&name, "I:");
		add_method(names, frame->words[1], &name);
		break;
	case WIRE_FRAME_COMPILED: add_blob(names, address, &name); break;
	case WIRE_FRAME_MARK:
		strbuf_addstr(&name, address == WIRE_MARK_FROZEN ? "M:frozen" : "M:anchor");
		break;
	default: add_native(names, address, &name);
	}
	return strbuf_take(&name);
}

const char *frame_names_find(struct frame_names *names, const struct live_frame *frame)
{
	/* The interpreter's own words change with every bytecode. */
	uint64_t key[2] = { frame->words[0] & ~WIRE_FRAME_EXACT, frame->words[1] }, hash;
	char *name;

	if (live_frame_kind(frame) == WIRE_FRAME_INTERPRETED)
		key[0] = 0;
	hash = hash_bytes(key, sizeof(key));
	name = hmap_find_ptr(&names->by_frame, hash);
	if (!name) {
		name = make_name(names, frame);
		hmap_put_ptr(&names->by_frame, hash, name);
	}
	return name;
}
