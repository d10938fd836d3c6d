/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/attach/attach_reply.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/macros.h"
#include "codemap.h"

/* What fits into a sentence. */
#define MAX_QUOTE 256

/* One line of a reply, without its end. */
struct line {
	const char *text;
	size_t len;
};

static bool next_line(const char *text, size_t len, size_t *at, struct line *ret_line)
{
	const char *end;

	if (*at >= len)
		return false;
	ret_line->text = text + *at;
	end = memchr(ret_line->text, '\n', len - *at);
	ret_line->len = end ? (size_t)(end - ret_line->text) : len - *at;
	*at += ret_line->len + (end != NULL);
	return true;
}

/* A whole line that is a number: "0", "-1", "100". */
static bool line_number(const struct line *line, long *ret_value)
{
	size_t at = line->len && line->text[0] == '-';
	long value = 0;

	if (at == line->len || line->len - at > 9)
		return false;
	for (size_t i = at; i < line->len; i++) {
		if (!isdigit((unsigned char)line->text[i]))
			return false;
		value = value * 10 + (line->text[i] - '0');
	}
	*ret_value = at ? -value : value;
	return true;
}

int attach_reply_status(const char *reply, size_t len, size_t *ret_body)
{
	struct line line;
	size_t at = 0;
	long status;

	if (!next_line(reply, len, &at, &line) || !line_number(&line, &status))
		return -EBADMSG;
	*ret_body = at;
	return status == 0 ? 0 : -EIO;
}

/* JDK 8: "0"; 9 and later: "return code: 0". */
static bool find_return_code(const char *body, size_t len, long *ret_code)
{
	static const char prefix[] = "return code: ";
	const size_t prefix_len = sizeof(prefix) - 1;
	struct line line;
	size_t at = 0;

	while (next_line(body, len, &at, &line)) {
		if (line.len > prefix_len && !memcmp(line.text, prefix, prefix_len)) {
			line.text += prefix_len;
			line.len -= prefix_len;
		}
		if (line_number(&line, ret_code))
			return true;
	}
	return false;
}

/* The body on one line, printable. */
static void quote(const char *body, size_t len, char ret_text[MAX_QUOTE])
{
	size_t out = 0;

	for (size_t i = 0; i < len && out < MAX_QUOTE - 1; i++) {
		unsigned char c = (unsigned char)body[i];

		if (c < ' ' || c == 0x7f)
			c = ' ';
		if (c != ' ' || (out && ret_text[out - 1] != ' '))
			ret_text[out++] = (char)c;
	}
	while (out && ret_text[out - 1] == ' ')
		out--;
	ret_text[out] = 0;
}

static int refused(long code, struct err *err)
{
	static const char *const reasons[] = {
		[AGENT_NO_MEMORY] = ": no memory for what it publishes",
		[AGENT_NO_THREAD] = ": no room for its thread, the heap may be full",
		[AGENT_BUSY] = ": the one before has not ended yet, try again",
	};
	bool known = code > 0 && code < (long)ARRAY_SIZE(reasons);

	/* It has none before its live phase: share/prims/jvmtiExport.cpp, get_jvmti_interface(). */
	if (code == AGENT_NO_JVMTI)
		return err_set(err, -EAGAIN, "the JVM is still starting, or ending already");
	return err_set(err, -EIO, "the agent refused to start in the JVM (code %ld)%s", code,
		       known ? reasons[code] : "");
}

int attach_reply_check_load(const char *reply, size_t len, struct err *err)
{
	char text[MAX_QUOTE];
	size_t body = 0;
	int status = attach_reply_status(reply, len, &body);
	long code;

	if (!len)
		return err_set(err, -EBADMSG, "the JVM closed the connection without an answer");
	if (status == -EBADMSG)
		return err_set(err, status, "the JVM's answer makes no sense");
	quote(reply + body, len - body, text);
	if (find_return_code(reply + body, len - body, &code)) {
		if (!status && !code)
			return 0;
		return refused(code, err);
	}
	return err_set(err, -EIO, "the JVM did not load the agent%s%s", text[0] ? ": " : "", text);
}
