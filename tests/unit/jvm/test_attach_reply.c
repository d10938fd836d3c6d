/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "jvm/attach/attach_reply.h"

/* As the JDKs answer `load`; "" no part of the sentence is demanded. */
static const struct {
	const char *reply;
	int code;
	const char *sentence;
} cases[] = {
	/* 8 */
	{ "0\n0\n", 0, "" },
	{ "0\n100\n", -EIO, "refused to start in the JVM (code 100)" },
	{ "0\n-1\n", -EIO, "(code -1)" },
	{ "-1\n", -EIO, "did not load the agent" },
	/* 11, 17 */
	{ "0\nreturn code: 0\n", 0, "" },
	{ "0\nreturn code: 7\n", -EIO, "(code 7)" },
	{ "0\nreturn code: 2\n", -EAGAIN, "still starting" },
	{ "0\nreturn code: 3\n", -EIO, "(code 3): no room for its thread" },
	{ "0\nreturn code: 4\n", -EIO, "(code 4): the one before" },
	{ "-1\n/a.so was not loaded.\n/a.so: cannot open\n", -EIO,
	  "did not load the agent: /a.so was not loaded. /a.so: cannot open" },
	{ "100\nAgent load failed", -EIO, "did not load the agent: Agent load failed" },
	/* 21 and later: the status is 0 whatever happened */
	{ "0\n/a.so was not loaded.\n/a.so: wrong ELF class\n", -EIO, "wrong ELF class" },
	{ "0\nDynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading\n", -EIO,
	  "Dynamic agent loading is not enabled" },
	{ "0\nreturn code: 0", 0, "" },
	/* nonsense */
	{ "", -EBADMSG, "without an answer" },
	{ "hello\n", -EBADMSG, "makes no sense" },
	{ "0", -EIO, "did not load the agent" },
	{ "0\n", -EIO, "did not load the agent" },
	{ "0\nreturn code: \n", -EIO, "did not load the agent" },
	{ "0\nreturn code: 0x\n", -EIO, "did not load the agent" },
	{ "0\nreturn code: 99999999999999999999\n", -EIO, "did not load the agent" },
	{ "0\nreturn code: 123456789\n", -EIO, "(code 123456789)" },
	{ "0\nreturn code: 1234567890\n", -EIO, "did not load the agent" },
	{ "0\nreturn code: -123456789\n", -EIO, "(code -123456789)" },
	{ "0\nreturn code: -1234567890\n", -EIO, "did not load the agent" },
	{ "0\nreturn code: 1\n", -EIO, "(code 1): no memory" },
	{ "0\nwarning\nreturn code: 0\n", 0, "" },
	{ "0\nreturn code: 0:\n", -EIO, "did not load the agent" },
	{ "-0\n0\n", 0, "" },
	{ "\n0\n", -EBADMSG, "makes no sense" },
	{ "-\n0\n", -EBADMSG, "makes no sense" },
	/* a failing status outweighs a code that pleases */
	{ "-1\nreturn code: 0\n", -EIO, "" },
};

static void tells_success_from_failure(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = { 0 };
		int r = attach_reply_check_load(cases[i].reply, strlen(cases[i].reply), &err);

		if (r != cases[i].code || !strstr(err.text, cases[i].sentence))
			fail_msg("case %u: came %d \"%s\"", i, r, err.text);
		assert_int_equal(err.code, r);
	}
}

static void sentences_are_one_printable_line(void **state)
{
	static const char reply[] = "0\n\x1b[31mred\n\n  \tblue\0black \n";
	struct err err = { 0 };

	(void)state;
	assert_int_equal(attach_reply_check_load(reply, sizeof(reply) - 1, &err), -EIO);
	assert_string_equal(err.text, "the JVM did not load the agent: [31mred blue black");
	assert_int_equal(attach_reply_check_load("0\n \x7f~ \x1f", 7, &err), -EIO);
	assert_string_equal(err.text, "the JVM did not load the agent: ~");
	assert_int_equal(attach_reply_check_load("0\n \n\n", 5, &err), -EIO);
	assert_string_equal(err.text, "the JVM did not load the agent");
	/* A code that is not known has no reason. */
	assert_int_equal(attach_reply_check_load("0\n5\n", 4, &err), -EIO);
	assert_string_equal(err.text, "the agent refused to start in the JVM (code 5)");
	assert_int_equal(attach_reply_check_load("0\n-1\n", 5, &err), -EIO);
	assert_string_equal(err.text, "the agent refused to start in the JVM (code -1)");
	assert_int_equal(attach_reply_check_load("1\n0\n", 4, &err), -EIO);
	assert_string_equal(err.text, "the agent refused to start in the JVM (code 0)");
}

/* It is quoted as far as it fits into a sentence. */
static void long_answers_are_cut(void **state)
{
	static const char before[] = "the JVM did not load the agent: ";
	char reply[600] = "0\n";
	struct err err = { 0 };

	(void)state;
	memset(reply + 2, 'x', sizeof(reply) - 2);
	assert_int_equal(attach_reply_check_load(reply, sizeof(reply), &err), -EIO);
	assert_int_equal(strlen(err.text), MIN(sizeof(before) - 1 + 255, sizeof(err.text) - 1));
	assert_int_equal(strspn(err.text + sizeof(before) - 1, "x"),
			 strlen(err.text) - sizeof(before) + 1);
}

static void status_and_body(void **state)
{
	size_t body = 99;

	(void)state;
	assert_int_equal(attach_reply_status("0\n2", 3, &body), 0);
	assert_int_equal(body, 2);
	assert_int_equal(attach_reply_status("-1 Operation x not recognized!", 5, &body), -EBADMSG);
	assert_int_equal(attach_reply_status("101\nwhy", 7, &body), -EIO);
	assert_int_equal(body, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_success_from_failure),
		cmocka_unit_test(sentences_are_one_printable_line),
		cmocka_unit_test(long_answers_are_cut),
		cmocka_unit_test(status_and_body),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
