// SPDX-License-Identifier: Apache-2.0
#include "cmd/doctor/doctor_rights.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rights.h"
#include "process/proc.h"
#include "session/recorder_rights.h"

#define STATUS_LIMIT 65536
/* No process of a recording has more. */
#define MOST_NAMED 16

static void put_rights(struct preflight_result *result, uint64_t rights, const char *more)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (__builtin_popcountll(rights) <= MOST_NAMED)
		rights_add_names(&text, rights);
	else
		strbuf_addf(&text, "%d capabilities", __builtin_popcountll(rights));
	result->state = PREFLIGHT_OK;
	snprintf(result->found, sizeof(result->found), "%s%s", strbuf_str(&text), more);
}

static void look_at_recorder(struct preflight_result *result)
{
	put_rights(result, recorder_rights_of(rights_permitted()), "");
}

static void look_at_nursery(struct preflight_result *result)
{
	put_rights(result, rights_permitted() & RIGHTS_OF_NURSERY, "");
}

static void look_at_attaching(struct preflight_result *result)
{
	put_rights(result, rights_permitted() & (RIGHTS_OF_NURSERY | RIGHTS_TO_ATTACH), "");
}

static void look_at_brokers(struct preflight_result *result)
{
	put_rights(result, rights_permitted() & RIGHTS_TO_LOOK, "; seccomp");
}

static void look_at_readers(struct preflight_result *result)
{
	put_rights(result, 0, "; seccomp");
}

#define MEND "none is needed; docs/security.md says what each is for"

const struct preflight_check doctor_rights_checks[] = {
	{ "rights-recorder", "rights while recording: hostprof", "events of cpus that come", MEND,
	  look_at_recorder },
	{ "rights-nursery", "  hostprof-nurse, -keeper", "brokers", MEND, look_at_nursery },
	{ "rights-attach", "  the same, and -attach, with agents", "attaching", MEND,
	  look_at_attaching },
	{ "rights-broker", "  hostprof-broker", "memory and files of others", MEND,
	  look_at_brokers },
	{ "rights-reader", "  hostprof-reader", "what is in files of others", MEND,
	  look_at_readers },
	{ NULL, NULL, NULL, NULL, NULL },
};

/* --- those that run --------------------------------------------------------------------------- */

struct listing {
	void (*fn)(const struct preflight_check *check, const struct preflight_result *result,
		   void *data);
	void *data;
};

/* A line of /proc/PID/status. */
static uint64_t number_of(const char *status, const char *name)
{
	const char *line = strstr(status, name);
	unsigned long long value = 0;

	if (line && sscanf(line + strlen(name), "%llx", &value) != 1) // NOLINT(cert-err34-c)
		return 0;
	return value;
}

static int list_one(uint32_t pid, void *data)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct listing *listing = data;
	struct preflight_result result;
	char path[32], id[32], title[40], comm[16];
	const struct preflight_check check = { id, title, "a recording that runs", MEND, NULL };
	const char *status;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	if (pid == (uint32_t)getpid() || file_read(path, STATUS_LIMIT, &text) < 0)
		return 0;
	status = strbuf_str(&text);
	if (sscanf(status, "Name: %15s", comm) != 1 || strncmp(comm, "hostprof", 8) != 0)
		return 0;
	snprintf(id, sizeof(id), "rights-of-%u", pid);
	snprintf(title, sizeof(title), "rights of %s %u", comm, pid);
	put_rights(&result, number_of(status, "\nCapPrm:"),
		   number_of(status, "\nSeccomp:") ? "; seccomp" : "");
	listing->fn(&check, &result, listing->data);
	return 0;
}

void doctor_rights_for_each(void (*fn)(const struct preflight_check *check,
				       const struct preflight_result *result, void *data),
			    void *data)
{
	struct listing listing = { fn, data };

	(void)proc_for_each_pid(list_one, &listing);
}
