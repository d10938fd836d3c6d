/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/record_stats.h"

#include <string.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/json.h"
#include "base/out/outfile.h"
#include "base/units.h"
#include "profile/event_sum.h"
#include "profile/quality.h"
#include "profile/roots.h"

static void add_count(struct strbuf *line, uint64_t n, const char *one, const char *many)
{
	strbuf_addstr(line, ", ");
	units_format_count(line, n);
	strbuf_addf(line, " %s", n == 1 ? one : many);
}

/* Where all fell out of rings, that is what "lost" means. */
static void add_losses(struct strbuf *line, const struct recorder_result *result)
{
	uint64_t unknown = result->capture.counters[WIRE_COUNTER_LOST_UNKNOWN];
	const char *before = " (";

	if (result->losses[WIRE_LOSS_RING].count == result->lost)
		return;
	for (unsigned int i = 0; i < WIRE_LOSS_COUNT; i++) {
		if (!result->losses[i].count)
			continue;
		strbuf_addstr(line, before);
		units_format_count(line, result->losses[i].count);
		strbuf_addf(line, " %s", ledger_loss_id(i));
		before = ", ";
	}
	if (unknown) {
		strbuf_addstr(line, before);
		units_format_count(line, unknown);
		strbuf_addstr(line, " of unknown processes");
	}
	strbuf_addstr(line, ")");
}

/* One event whose samples say all needs no name. */
static bool has_names(const struct event_sums *sums)
{
	return sums->rows.len > 1 || (sums->rows.len && !strcmp(sums->rows.items[0].unit, "bytes"));
}

static void add_event(struct strbuf *line, const struct event_sums_row *row)
{
	units_format_count(line, row->sum.samples);
	strbuf_addf(line, " %s %s", row->name, row->sum.samples == 1 ? "sample" : "samples");
	if (strcmp(row->unit, "bytes") != 0)
		return;
	strbuf_addstr(line, " (");
	units_format_bytes(line, row->sum.weight);
	strbuf_addch(line, ')');
}

static void add_samples(struct strbuf *line, const struct recorder_result *result,
			const struct event_sums *sums)
{
	if (!has_names(sums)) {
		units_format_count(line, result->samples);
		strbuf_addstr(line, result->samples == 1 ? " sample" : " samples");
		return;
	}
	for (size_t i = 0; i < sums->rows.len; i++) {
		strbuf_addstr(line, i ? ", " : "");
		add_event(line, &sums->rows.items[i]);
	}
}

void record_stats_format_line(struct strbuf *line, const char *path,
			      const struct recorder_result *result, const struct event_sums *sums)
{
	strbuf_addf(line, "%s: ", path);
	add_samples(line, result, sums);
	add_count(line, result->processes, "process", "processes");
	add_count(line, result->jvms, "JVM", "JVMs");
	if (result->jvms_with_agent)
		strbuf_addf(line, " (%u with agent)", result->jvms_with_agent);
	strbuf_addstr(line, ", ");
	profile_format_share(line, result->complete, result->samples);
	strbuf_addstr(line, " complete stacks");
	add_count(line, result->lost, "lost", "lost");
	add_losses(line, result);
	if (result->late_samples)
		add_count(line, result->late_samples, "late", "late");
	if (result->capture.side_lost)
		add_count(line, result->capture.side_lost, "side-band record lost",
			  "side-band records lost");
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* Calls about processes that did not let their memory or files be read in time. */
static void put_wall(struct json *j, const struct wall_figures *wall)
{
	json_object_begin(j, "wall");
	json_u64(j, "late", wall->late);
	json_u64(j, "refused", wall->refused);
	json_u64(j, "brokers_lost", wall->lost);
	json_u64(j, "first_pid", wall->first_pid);
	json_u64(j, "cpu_ns", wall->cpu_ns);
	json_object_end(j);
}

/* Calls about files that readers did not come back from. */
static void put_readers(struct json *j, const struct reader_figures *readers)
{
	json_object_begin(j, "readers");
	json_u64(j, "late", readers->late);
	json_u64(j, "deaths", readers->deaths);
	json_u64(j, "files_given_up", readers->refused);
	json_str(j, "first_file", readers->first);
	json_u64(j, "cpu_ns", readers->cpu_ns);
	json_object_end(j);
}

static void put_reasons(struct json *j, const struct recorder_result *result)
{
	static const char *const ids[] = {
#define UNWIND_REASON(name, id, whole, text) id,
#include "unwind_reasons.def"
#undef UNWIND_REASON
	};

	json_object_begin(j, "reasons");
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		if (result->reasons[i])
			json_u64(j, ids[i], result->reasons[i]);
	json_object_end(j);
}

static void put_loss(struct json *j, const char *id, uint64_t count, uint64_t weight)
{
	json_object_begin(j, id);
	json_u64(j, "samples", count);
	json_u64(j, "weight", weight);
	json_object_end(j);
}

static void put_losses(struct json *j, const struct recorder_result *result)
{
	const uint64_t *counters = result->capture.counters;

	json_object_begin(j, "losses");
	for (unsigned int i = 0; i < WIRE_LOSS_COUNT; i++)
		put_loss(j, ledger_loss_id(i), result->losses[i].count, result->losses[i].weight);
	put_loss(j, "unknown", counters[WIRE_COUNTER_LOST_UNKNOWN],
		 counters[WIRE_COUNTER_LOST_UNKNOWN_WEIGHT]);
	json_object_end(j);
}

static void put_capture(struct json *j, const struct capture_stats *capture)
{
	static const char *const ids[] = {
#define WIRE_COUNTER(name, id, figure, text) id,
#include "wire_counters.def"
	};

	json_object_begin(j, "capture");
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		json_u64(j, ids[i], capture->counters[i]);
	json_u64(j, "side_lost", capture->side_lost);
	json_u64(j, "unobserved_ns", capture->unobserved_ns);
	json_u64(j, "suspended_ns", capture->suspended_ns);
	json_u64(j, "throttled_times", capture->throttled_times);
	json_u64(j, "throttled_ns", capture->throttled_ns);
	json_u64(j, "bpf_run_ns", capture->bpf_run_ns);
	json_u64(j, "bpf_run_count", capture->bpf_run_count);
	json_double(j, "bpf_ns_per_run", share(capture->bpf_run_ns, capture->bpf_run_count));
	json_u64(j, "map_bytes", capture->map_bytes);
	json_u64(j, "cpus", capture->cpus);
	json_object_end(j);
}

static void put_string(struct json *j, const char *key, const struct profile *p, uint32_t id)
{
	json_str(j, key, id ? profile_get_string(p, id) : NULL);
}

static void put_process(struct json *j, const struct profile *p, const struct profile_quality *q,
			const struct root_sum *root)
{
	const struct profile_process *process = profile_get_process(p, q->process);
	const struct profile_event *event = profile_get_event(p, q->event);

	json_object_begin(j, NULL);
	json_u64(j, "pid", process->pid);
	put_string(j, "name", p, process->name);
	json_u64(j, "start_ns", process->start_ns);
	json_u64(j, "exec_count", process->exec_count);
	put_string(j, "exe", p, process->exe);
	put_string(j, "container", p, process->container_id);
	put_string(j, "container_name", p, process->container_name);
	put_string(j, "container_image", p, process->container_image);
	put_string(j, "cgroup", p, process->cgroup);
	put_string(j, "jvm_version", p, process->jvm_version);
	put_string(j, "main_class", p, process->main_class);
	put_string(j, "event", p, event->name);
	json_u64(j, "samples", q->samples);
	json_u64(j, "complete", q->complete);
	json_double(j, "complete_share", share(q->complete, q->samples));
	json_u64(j, "roots", root->stacks);
	json_u64(j, "starts", root->starts);
	json_double(j, "starts_share", share(root->starts, root->stacks));
	json_u64(j, "weight", q->weight);
	json_u64(j, "lost", q->lost);
	json_u64(j, "lost_weight", q->lost_weight);
	json_object_end(j);
}

static void put_events(struct json *j, const struct profile *p)
{
	json_array_begin(j, "events");
	for (uint32_t id = 0; id < intern_len(&p->events); id++) {
		const struct profile_event *event = profile_get_event(p, id);
		struct event_sum sum = event_sum_of(p, id);

		json_object_begin(j, NULL);
		put_string(j, "name", p, event->name);
		put_string(j, "unit", p, event->unit);
		json_u64(j, "period", event->period);
		json_u64(j, "samples", sum.samples);
		json_u64(j, "weight", sum.weight);
		json_u64(j, "objects", sum.objects);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_profile(struct json *j, const struct profile *p)
{
	const struct profile_quality *q;
	const struct profile_counter *c;
	struct profile_roots roots;

	put_events(j, p);
	json_array_begin(j, "processes");
	profile_roots_init(&roots, p);
	vec_for_each (q, &p->quality) {
		struct root_sum root = profile_roots_get(&roots, q->event, q->process);

		put_process(j, p, q, &root);
	}
	profile_roots_release(&roots);
	json_array_end(j);
	json_array_begin(j, "counters");
	vec_for_each (c, &p->counters) {
		json_object_begin(j, NULL);
		put_string(j, "name", p, c->name);
		put_string(j, "detail", p, c->detail);
		json_u64(j, "value", c->value);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_command(struct json *j, int status)
{
	if (WIFSIGNALED(status))
		json_i64(j, "command_signal", WTERMSIG(status));
	else
		json_i64(j, "command_exit", WEXITSTATUS(status));
}

static void put_run(struct json *j, const struct recorder_result *result)
{
	json_str(j, "version", HOSTPROF_VERSION);
	json_u64(j, "start_ns", result->start_ns);
	json_u64(j, "elapsed_ns", result->elapsed_ns);
	json_bool(j, "interrupted", result->interrupted);
	put_command(j, result->exit_status);
	json_u64(j, "samples", result->samples);
	json_u64(j, "complete", result->complete);
	json_double(j, "complete_share", share(result->complete, result->samples));
	json_u64(j, "lost", result->lost);
	json_u64(j, "process_count", result->processes);
	json_u64(j, "jvms", result->jvms);
	json_u64(j, "jvms_with_agent", result->jvms_with_agent);
	json_u64(j, "late_samples", result->late_samples);
	json_u64(j, "merge_stall_ns", result->merge_stall_ns);
	put_wall(j, &result->wall);
	put_readers(j, &result->readers);
	json_u64(j, "own_cpu_ns", result->own_cpu_ns);
	json_u64(j, "peak_rss_bytes", result->peak_rss_bytes);
	json_u64(j, "memory_limit_bytes", result->memory_limit_bytes);
}

int record_stats_write(const char *path, const struct recorder_result *result,
		       const struct profile *profile, struct err *err)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct outfile out;
	struct json j;
	int rc;

	json_init(&j, &text, true);
	json_object_begin(&j, NULL);
	put_run(&j, result);
	put_reasons(&j, result);
	put_losses(&j, result);
	put_capture(&j, &result->capture);
	put_profile(&j, profile);
	json_object_end(&j);
	rc = outfile_open(path, &out, err);
	if (rc)
		return rc;
	rc = file_write_all(out.fd, text.buf, text.len);
	if (rc)
		err_sys(err, rc, "cannot write %s", out.path);
	else
		rc = outfile_commit(&out, err);
	outfile_release(&out);
	return rc;
}
