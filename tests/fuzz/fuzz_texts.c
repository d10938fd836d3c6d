// SPDX-License-Identifier: Apache-2.0
/* Texts that others have made, whole or in part. The first byte says whose: a JVM's answer to who attaches, a command line, files of /proc. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Before fixtures. */
#include "fuzz_asserts.h"

#include "base/alloc.h"
#include "fake_memory.h"
#include "jvm/attach/attach_reply.h"
#include "jvm/java_command.h"
#include "jvm/java_name.h"
#include "jvm/perf/jvm_perf.h"
#include "process/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_reply(const char *text, size_t len)
{
	struct err err = { 0 };
	size_t body = 0;

	if (attach_reply_status(text, len, &body) == 0)
		assert_true(body <= len);
	if (attach_reply_check_load(text, len, &err) < 0)
		assert_true(err.text[0] != '\0');
}

static void read_command(const char *text, size_t len)
{
	char name[32];

	if (java_command_parse(text, len, name, sizeof(name)) == 0)
		assert_true(name[0] && strnlen(name, sizeof(name)) < sizeof(name));
}

static void read_state(const char *text, size_t len)
{
	struct proc_status status;
	struct proc_stat stat;
	char *path = NULL;

	(void)proc_parse_stat(text, len, &stat);
	(void)proc_parse_status(text, len, &status);
	if (proc_parse_cgroup(text, len, &path) == 0)
		assert_true(strlen(path) <= len);
	free(path);
	(void)proc_parse_hides(text, len);
}

/* What is shown of them is text without control characters, but for what was checked by who calls. */
static void read_names(const char *text, size_t len)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	java_name_add_text(&out, text, len);
	java_name_add_class(&out, text, len);
	java_name_add_symbol(&out, text, len);
	java_name_add_signature(&out, text, len);
	java_name_add_stub(&out, text, len);
	java_name_add_chars(&out, text, 2, len / 2);
	java_name_add_descriptor(&out, text, len);
	for (size_t i = 0; i < out.len; i++)
		assert_true((unsigned char)out.buf[i] >= ' ');
}

/* The mappings of a process whose memory is nothing but zeros. */
static void find_counters(const char *text, size_t len)
{
	static struct fake_memory fake;
	_cleanup_strbuf_ struct strbuf maps = STRBUF_INIT;
	uint64_t address;

	fake_init(&fake);
	strbuf_add(&maps, text, len);
	assert_true(jvm_perf_find(&fake.memory, &maps, "sun.gc.cause", &address) < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(const char *text, size_t len) = { read_reply, read_command,
									 read_state, read_names,
									 find_counters };
	_cleanup_free_ char *text = NULL;

	if (!size)
		return 0;
	/* To the byte, so that the sanitizer sees all. */
	text = xmemdup(data + 1, size - 1);
	readers[data[0] % ARRAY_SIZE(readers)](text, size - 1);
	return 0;
}
