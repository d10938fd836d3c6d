/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/java_command.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/strbuf.h"
#include "process/proc.h"

/* Of sun.java.command only the first word counts. */
#define MAX_COMMAND 4096

/* Options whose value is the next argument. */
static const char *const valued_options[] = {
	"-cp",
	"-classpath",
	"--class-path",
	"-p",
	"--module-path",
	"--upgrade-module-path",
	"--add-modules",
	"--limit-modules",
	"--add-exports",
	"--add-opens",
	"--add-reads",
	"--patch-module",
	"--enable-native-access",
	"--enable-final-field-mutation",
	"--source",
	"-d",
	"--describe-module",
};

static bool is_valued(const char *option)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(valued_options); i++)
		if (!strcmp(option, valued_options[i]))
			return true;
	return false;
}

/* Arguments one after the other; the last may lack its NUL. */
struct arguments {
	const char *text;
	size_t len, at;
	char word[MAX_COMMAND]; /* the one at hand; a longer one is cut */
};

static bool next_argument(struct arguments *a)
{
	const char *start = a->text + a->at;
	size_t len;

	if (a->at >= a->len)
		return false;
	len = strnlen(start, a->len - a->at);
	a->at += len + 1;
	len = MIN(len, sizeof(a->word) - 1);
	memcpy(a->word, start, len);
	a->word[len] = 0;
	return true;
}

static int take_main(const char *word, char *ret_main, size_t size)
{
	if (!word[0])
		return -ENODATA;
	snprintf(ret_main, size, "%s", word);
	return 0;
}

int java_command_parse(const char *args, size_t len, char *ret_main, size_t size)
{
	static const char module_option[] = "--module=";
	struct arguments a = { .text = args, .len = len };

	if (!next_argument(&a))
		return -ENODATA;
	while (next_argument(&a)) {
		if (!strncmp(a.word, module_option, sizeof(module_option) - 1))
			return take_main(a.word + sizeof(module_option) - 1, ret_main, size);
		if (!strcmp(a.word, "-m") || !strcmp(a.word, "--module"))
			return next_argument(&a) ? take_main(a.word, ret_main, size) : -ENODATA;
		if (a.word[0] == '@')
			return -ENODATA;
		if (is_valued(a.word)) {
			next_argument(&a);
			continue;
		}
		/* -jar only changes what the first other word means. */
		if (a.word[0] != '-')
			return take_main(a.word, ret_main, size);
	}
	return -ENODATA;
}

/* share/runtime/arguments.hpp: Arguments::_java_command, the text of sun.java.command. */
static int read_vm_command(const struct vmstructs *vs, char *ret_text, size_t size)
{
	_cleanup_(vm_pages_freep) struct vm_pages *pages = NULL;
	uint64_t address;
	int r = vmstructs_static_u64(vs, "Arguments", "_java_command", &address);

	if (r < 0)
		return r;
	pages = vm_pages_new(vmstructs_memory(vs));
	r = vm_pages_read_string(pages, address, ret_text, size);
	if (r == -E2BIG) {
		ret_text[size - 1] = 0;
		r = 0;
	}
	return r < 0 ? r : ret_text[0] ? 0 : -ENODATA;
}

static bool begins_with_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(text, word, len) && (text[len] == ' ' || !text[len]);
}

/* A program started from its source runs in the compiler's launcher, which is not its name. */
static bool is_source_launcher(const char *command)
{
	return !strncmp(command, "jdk.compiler/com.sun.tools.javac.launcher.",
			strlen("jdk.compiler/com.sun.tools.javac.launcher."));
}

static void tidy(char *text)
{
	size_t len = strlen(text);
	char *slash = strrchr(text, '/');

	if (slash && len > 4 && !strcmp(text + len - 4, ".jar"))
		memmove(text, slash + 1, strlen(slash + 1) + 1);
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

void java_command_main_class(uint32_t pid, const struct vmstructs *vs, char *ret_main, size_t size)
{
	_cleanup_strbuf_ struct strbuf args = STRBUF_INIT;
	char parsed[MAX_COMMAND] = "", command[MAX_COMMAND];

	if (proc_read_cmdline(pid, &args) == 0 && args.len)
		java_command_parse(args.buf, args.len, parsed, sizeof(parsed));
	if (vs && read_vm_command(vs, command, sizeof(command)) == 0 &&
	    !is_source_launcher(command) && !begins_with_word(command, parsed)) {
		command[strcspn(command, " ")] = 0;
		memcpy(parsed, command, strlen(command) + 1);
	}
	tidy(parsed);
	snprintf(ret_main, size, "%s", parsed);
}
