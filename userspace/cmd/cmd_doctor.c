/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "capture/preflight/preflight.h"
#include "cmd/cmd.h"
#include "cmd/doctor/doctor_rights.h"
#include "jvm/jvm_info.h"
#include "process/proc.h"
#include "wall/wall.h"

static bool as_json;

static const struct option_row rows[] = {
	{ OPTION_TYPE_FLAG, 0, "json", NULL, "print JSON", &as_json, NULL },
	OPTION_END,
};

static const struct command_usage usage = {
	.name = "doctor",
	.synopsis = "[--json]",
	.summary =
		"Check what recording needs on this host: what was found, what it is needed for, and what mends it. Exit code 3 when something is missing without which nothing works.",
	.rows = rows,
};

static const char *const words[] = {
	[PREFLIGHT_OK] = "ok",
	[PREFLIGHT_WARN] = "warn",
	[PREFLIGHT_FAIL] = "fail",
};

static void put_lines(struct strbuf *out, const struct preflight_check *check,
		      const struct preflight_result *result)
{
	strbuf_addf(out, "%-5s %-39s %s\n", words[result->state], check->title, result->found);
	if (result->state == PREFLIGHT_OK)
		return;
	strbuf_addf(out, "      needed for: %s\n", check->needed);
	strbuf_addf(out, "      mend: %s\n", check->mend);
}

static void put_json(struct json *j, const struct preflight_check *check,
		     const struct preflight_result *result)
{
	json_object_begin(j, NULL);
	json_str(j, "id", check->id);
	json_str(j, "title", check->title);
	json_str(j, "state", words[result->state]);
	json_str(j, "found", result->found);
	json_str(j, "needed", check->needed);
	json_str(j, "mend", check->mend);
	json_object_end(j);
}

/* The JVMs are no condition of recording: the check is a row of its own here. */
static void look_for_jvms(struct preflight_result *result)
{
	_cleanup_free_ struct jvm_info *infos = NULL;
	unsigned int count = 0, attachable = 0, lacking = 0;
	struct err err = { 0 };

	result->state = PREFLIGHT_OK;
	if (jvm_info_list(&infos, &count, &err) < 0) {
		result->state = PREFLIGHT_WARN;
		snprintf(result->found, sizeof(result->found), "%.150s", err.text);
		return;
	}
	for (unsigned int i = 0; i < count; i++) {
		attachable += infos[i].can_attach;
		lacking += infos[i].lacks.count > 0;
	}
	if (attachable < count || lacking)
		result->state = PREFLIGHT_WARN;
	snprintf(result->found, sizeof(result->found), "%u seen, agent possible in %u", count,
		 attachable);
	if (lacking)
		snprintf(result->found, sizeof(result->found),
			 "%u seen, agent possible in %u; of %u not all can be shown", count,
			 attachable, lacking);
}

static const struct preflight_check jvm_check = {
	"jvms", "JVMs",
	"the agent: allocations, names of threads; Java frames and what is inlined in them",
	"hostprof list says why", look_for_jvms
};

/* Programs whose user stacks are not walked: e_ident[EI_CLASS] of what they run (elf.h). */
struct stack_survey {
	unsigned int programs, narrow, unknown;
};

static int survey_one(uint32_t pid, void *data)
{
	struct stack_survey *survey = data;
	char path[64], ident[5];
	_cleanup_close_ int fd = -1;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	fd = wall_open(pid, path);
	if (fd < 0) {
		survey->unknown += fd == -EACCES;
		return 0; /* a kernel thread, or just gone */
	}
	survey->programs++;
	survey->narrow += file_pread_full(fd, ident, sizeof(ident), 0) == 0 && ident[4] == 1;
	return 0;
}

static void look_at_stacks(struct preflight_result *result)
{
	struct stack_survey survey = { 0 };

	result->state = PREFLIGHT_OK;
	if (proc_for_each_pid(survey_one, &survey) < 0 || survey.narrow)
		result->state = PREFLIGHT_WARN;
	snprintf(result->found, sizeof(result->found),
		 "%u programs, %u of them 32-bit; %u cannot be looked at", survey.programs,
		 survey.narrow, survey.unknown);
}

static const struct preflight_check stack_check = { "stacks", "user stacks of all processes",
						    "whole stacks (32-bit code is not walked)",
						    "run a 64-bit build of these programs",
						    look_at_stacks };

struct report {
	struct strbuf *out;
	struct json *json;
};

static void put_one(const struct preflight_check *check, const struct preflight_result *result,
		    void *data)
{
	struct report *report = data;

	if (as_json)
		put_json(report->json, check, result);
	else
		put_lines(report->out, check, result);
}

static bool check_one(const struct preflight_check *check, struct report *report)
{
	struct preflight_result result = { .state = PREFLIGHT_OK };

	check->run(&result);
	put_one(check, &result, report);
	return result.state != PREFLIGHT_FAIL;
}

int cmd_doctor(int argc, char **argv)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	bool good = true;
	struct json j;
	struct report report = { &out, &j };
	int rest, rc = cmd_parse(&usage, argc, argv, 0, 0, &rest);

	if (rc != CMD_CONTINUE)
		return rc;
	json_init(&j, &out, true);
	if (as_json)
		json_array_begin(&j, NULL);
	for (const struct preflight_check *check = preflight_checks; check->id; check++)
		good &= check_one(check, &report);
	check_one(&stack_check, &report);
	check_one(&jvm_check, &report);
	for (const struct preflight_check *check = doctor_rights_checks; check->id; check++)
		check_one(check, &report);
	doctor_rights_for_each(put_one, &report);
	if (as_json)
		json_array_end(&j);
	rc = cmd_print(&out);
	return rc || good ? rc : CMD_FORBIDDEN;
}
