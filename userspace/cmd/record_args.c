/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/record_args.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/record_stream.h"
#include "session/memory_plan.h"

#define DEFAULT_FREQ_HZ 99
#define MIN_RING_BYTES	(64ULL << 10)
#define MAX_RING_BYTES	(1ULL << 30)
/* report holds one chunk in memory. */
#define MAX_CHUNK_BYTES (256ULL << 20)
#define CGROUP_MOUNT	"/sys/fs/cgroup"

static struct record_args args = { .freq_hz = DEFAULT_FREQ_HZ };

static int parse_pids(const char *arg, void *value, struct err *err)
{
	_cleanup_free_ char *text = xstrdup(arg);
	char *save = NULL;

	(void)value;
	for (char *one = strtok_r(text, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		uint32_t pid;
		int rc = cmd_parse_pid(one, &pid, err);

		if (rc)
			return rc;
		vec_push(&args.pids, pid);
	}
	if (!args.pids.len)
		return err_set(err, -EINVAL, "-p: '%s' is not a list of pids", arg);
	if (args.pids.len > WIRE_MAX_TARGETS)
		return err_set(err, -EINVAL, "-p: more than %d processes", WIRE_MAX_TARGETS);
	return 0;
}

static int parse_duration(const char *arg, void *value, struct err *err)
{
	(void)value;
	if (units_parse_duration(arg, &args.duration_ns) < 0 || !args.duration_ns)
		return err_set(err, -EINVAL, "-d: '%s' is not a duration such as 30s or 10ms", arg);
	return 0;
}

static int add_event(const char *arg, struct err *err)
{
	for (size_t i = 0; i < args.event_names.len; i++)
		if (!strcmp(args.event_names.items[i], arg))
			return err_set(err, -EINVAL, "-e: %s is there twice", arg);
	if (args.event_names.len == WIRE_MAX_EVENTS)
		return err_set(err, -EINVAL, "more than %d events", WIRE_MAX_EVENTS);
	vec_push(&args.event_names, arg);
	return 0;
}

/* A list. The names are looked up when -F is known. */
static int parse_event(const char *arg, void *value, struct err *err)
{
	char *next = xstrdup(arg); /* lives as long as its pieces are names */
	int rc = 0;

	(void)value;
	while (!rc && next) {
		char *one = next;
		size_t len = capture_event_len(one);

		next = one[len] ? one + len + 1 : NULL;
		one[len] = '\0';
		rc = add_event(one, err);
	}
	return rc;
}

static int parse_cpus(const char *arg, void *value, struct err *err)
{
	(void)value;
	cpu_list_release(&args.cpus);
	if (cpu_list_parse(arg, strlen(arg), &args.cpus) == 0)
		return 0;
	return err_set(err, -EINVAL, "--cpu: '%s' is not a list of cpus such as 0,4-7", arg);
}

static int parse_agent(const char *arg, void *value, struct err *err)
{
	static const char *const modes[] = { [RECORDER_AGENT_AUTO] = "auto",
					     [RECORDER_AGENT_ALWAYS] = "always",
					     [RECORDER_AGENT_NEVER] = "never" };

	(void)value;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (!strcmp(arg, modes[i])) {
			args.agent = (enum recorder_agent_mode)i;
			return 0;
		}
	}
	return err_set(err, -EINVAL, "--agent: '%s' is none of auto, always, never", arg);
}

/* "--live", "--live=gc" */
static int parse_live(const char *arg, void *value, struct err *err)
{
	(void)value;
	args.live = arg ? LIVE_COLLECT : LIVE_ON;
	if (arg && strcmp(arg, "gc") != 0)
		return err_set(err, -EINVAL, "--live: '%s' is not gc", arg);
	return 0;
}

static int parse_unwind(const char *arg, void *value, struct err *err)
{
	(void)value;
	args.frame_pointers_only = !strcmp(arg, "fp");
	if (!args.frame_pointers_only && strcmp(arg, "auto") != 0)
		return err_set(err, -EINVAL, "--unwind: '%s' is none of auto, fp", arg);
	return 0;
}

static int parse_stream_format(const char *arg, void *value, struct err *err)
{
	(void)value;
	args.stream_format = !strcmp(arg, "collapsed") ? STREAM_COLLAPSED : STREAM_NDJSON;
	if (args.stream_format == STREAM_NDJSON && strcmp(arg, "ndjson") != 0)
		return err_set(err, -EINVAL, "--format: '%s' is none of ndjson, collapsed", arg);
	return 0;
}

/* What record and stream have in common. */
/* clang-format off */
#define SAMPLING_ROWS \
	{ OPTION_TYPE_HEADING, .help = "What to profile (default: the whole host)" }, \
	{ OPTION_TYPE_FLAG, 'a', "all", NULL, "all processes; with a command: until it ends", \
	  &args.all, NULL }, \
	{ OPTION_TYPE_CALLBACK, 'p', "pid", "PID,…", "these processes, until the last of them ends", NULL, parse_pids }, \
	{ OPTION_TYPE_STRING, 0, "cgroup", "PATH", "the processes of a cgroup and those below it", \
	  &args.cgroup, NULL }, \
	{ OPTION_TYPE_CALLBACK, 0, "cpu", "N,…", "only what runs on these cpus: 0,4-7", NULL, \
	  parse_cpus }, \
	{ OPTION_TYPE_FLAG, 0, "all-user", NULL, "no kernel frames", &args.view.all_user, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "all-kernel", NULL, "only kernel frames", &args.view.all_kernel, \
	  NULL }, \
	{ OPTION_TYPE_FLAG, 0, "include-idle", NULL, "sample idle cpus too", &args.include_idle, \
	  NULL }, \
	{ OPTION_TYPE_HEADING, .help = "How" }, \
	{ OPTION_TYPE_CALLBACK, 'd', "duration", "TIME", \
	  "how long: 30s, 5m (default: until Ctrl-C, or until the command ends)", NULL, \
	  parse_duration }, \
	{ OPTION_TYPE_CALLBACK, 'e', "event", "EVENT,…", \
	  "cpu (default), alloc, malloc, cycles, uprobe:LIB:FUNC, GROUP:NAME, or several (cpu,alloc): " \
	  "hostprof help events, hostprof list events", \
	  NULL, parse_event }, \
	{ OPTION_TYPE_STRING, 0, "begin", "PROBE", \
	  "of each process only from when it has come to that function on: uprobe:LIB:FUNC", \
	  &args.window_args.names[0], NULL }, \
	{ OPTION_TYPE_STRING, 0, "end", "PROBE", "and until it comes to that one, each time", \
	  &args.window_args.names[1], NULL }, \
	{ OPTION_TYPE_U64, 'F', "freq", "HZ", \
	  "samples per second and cpu, 1 to 20000 (default 99); page faults and the like have fixed " \
	  "periods", \
	  &args.freq_hz, NULL }, \
	{ OPTION_TYPE_CALLBACK, 0, "agent", "WHEN", \
	  "load the agent into JVMs: auto (when an event needs it; default), always, never", NULL, \
	  parse_agent }, \
	{ OPTION_TYPE_CALLBACK, 0, "unwind", "HOW", \
	  "native frames: auto (as their files describe them; default), fp (frame pointers only)", \
	  NULL, parse_unwind }, \
	{ OPTION_TYPE_FLAG, 0, "jvm-frames", NULL, \
	  "with alloc: the JVM's own frames, too, from its allocation on", &args.jvm_frames, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "vtable", NULL, \
	  "above a JVM's vtable and itable stubs the class whose method they call", \
	  &args.shows_receivers, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "comptask", NULL, \
	  "at the root of a JVM's compiler threads the method that they compile", \
	  &args.shows_compiling, NULL }, \
	{ OPTION_TYPE_U64, 0, "max-depth", "N", "user frames of a stack, up to 2048 (default 1024)", \
	  &args.max_depth, NULL }, \
	{ OPTION_TYPE_BYTES, 0, "ring-size", "BYTES", \
	  "ring buffer of each cpu, a power of two from 64k on", &args.ring_bytes, NULL }, \
	{ OPTION_TYPE_BYTES, 0, "memory-limit", "BYTES", \
	  "of hostprof's own memory and its BPF maps together, from 48M on (default 128M)", \
	  &args.memory_limit_bytes, NULL }
/* clang-format on */

static const struct option_row rows[] = {
	SAMPLING_ROWS,
	{ OPTION_TYPE_CALLBACK, 0, "live", "[=gc]",
	  "with alloc, which is the default then: what is still alive at the end, too, as event "
	  "\"live\" (JDK 11 on, with the agent); gc: after a full collection; with malloc: what was "
	  "not freed, as event \"malloc-live\"",
	  NULL, parse_live },
	{ OPTION_TYPE_FLAG, 0, "waker", NULL,
	  "with offcpu, nativelock, wall or lock: of each wait also who ended it, thread and stack, behind [woken by]",
	  &args.tells_wakers, NULL },
	{ OPTION_TYPE_HEADING, .help = "Result" },
	VIEW_FLAGS_ROWS(args.view),
	{ OPTION_TYPE_FLAG, 0, "debuginfod", NULL,
	  "a view has names for files without symbols, from the servers of DEBUGINFOD_URLS",
	  &args.debuginfod, NULL },
	{ OPTION_TYPE_DURATION, 0, "chunk-time", "TIME",
	  "a chunk of a .jfr ends after this (default 60s); checked every second", &args.chunk_ns,
	  NULL },
	{ OPTION_TYPE_BYTES, 0, "chunk-size", "BYTES", "or when it has grown to this (default 16M)",
	  &args.chunk_bytes, NULL },
	{ OPTION_TYPE_STRING, 0, "stats", "FILE", "write the figures of the run to FILE, as JSON",
	  &args.stats_path, NULL },
	{ OPTION_TYPE_STRING, 0, "stream", "FILE",
	  "each sample as a line, too, to FILE or to the descriptor of this number "
	  "(hostprof help stream)",
	  &record_stream.target, NULL },
	OPTION_END,
};

static const struct option_row stream_rows[] = {
	SAMPLING_ROWS,
	{ OPTION_TYPE_HEADING, .help = "Result" },
	{ OPTION_TYPE_CALLBACK, 0, "format", "FORMAT",
	  "ndjson (default), or collapsed: a stack and its weight, some 0.4 s later", NULL,
	  parse_stream_format },
	OPTION_END,
};

/* docs/stream.md has all keys. */
#define STREAM_LINES_HELP                                                                \
	"\nThe lines of ndjson, by \"type\" (docs/stream.md says more):\n"               \
	"  begin       version of this format; events, units of their weights\n"         \
	"  process     its number here; pid, name, exe, container, main_class, …\n"    \
	"  thread      its number here; process, pid, tid, full name\n"                  \
	"  sample      id, time_ns (CLOCK_MONOTONIC), event, weight, state, pid, tid,\n" \
	"              thread, frames (leaf first): name, kind, line, file, module;\n"   \
	"              address where no name is known yet\n"                             \
	"  correction  the id of a sample: its thread and its frames are these\n"        \
	"  process_start, process_exec, process_exit\n"                                  \
	"              time_ns, pid; ppid; the program's name\n"                         \
	"  lost        samples and weight that were not taken, by reason\n"              \
	"  lost_lines  lines that the reader was too slow for\n"                         \
	"  end         samples, late_samples, lost_samples, lost_lines of the run\n"

static const struct command_usage stream_usage = {
	.name = "stream",
	.synopsis = "[-a | -p PID,… | --cgroup PATH] [options] [-- CMD ARG…]",
	.summary =
		"Write each sample to standard output as a line of JSON, some hundredths of a second "
		"after it was taken, until the time is over, the command has ended, or Ctrl-C is "
		"pressed. A reader that is too slow loses lines, which are counted. "
		"'hostprof help stream' explains the lines.",
	.epilogue = "Examples:\n"
		    "  hostprof stream -p 4242 | jq 'select(.type == \"sample\")'\n"
		    "  hostprof stream -d 10 --format collapsed > stacks.txt\n" STREAM_LINES_HELP,
	.rows = stream_rows,
};

static const struct command_usage usage = {
	.name = "record",
	.synopsis = "[-a | -p PID,… | --cgroup PATH] [options] [-- CMD ARG…]",
	.summary =
		"Take samples until the time is over, the command has ended, or Ctrl-C is pressed. "
		"Without -o the recording goes to hostprof-DATE.jfr and a summary is printed.",
	.epilogue = "Examples:\n"
		    "  hostprof record -d 10 -o hostprof.html\n"
		    "  hostprof record -p 4242 -F 997 -d 1m -o app.jfr\n"
		    "  hostprof record -o build.html -- make -j8\n",
	.rows = rows,
};

static int check_targets(bool dashdash, int operands, char **operand, struct err *err)
{
	if (operands && !dashdash) {
		err_set(err, -EINVAL, "unexpected '%s'", operand[0]);
		return err_hint(err, "a command to profile comes after --");
	}
	if (dashdash && !operands)
		return err_set(err, -EINVAL, "there is no command after --");
	if (args.all && (args.pids.len || args.cgroup))
		return err_set(err, -EINVAL, "-a does not go with -p or --cgroup");
	if (operands && (args.pids.len || args.cgroup))
		return err_set(err, -EINVAL, "a command does not go with -p or --cgroup");
	return 0;
}

static int check_numbers(struct err *err)
{
	uint64_t ring = args.ring_bytes;

	if (!args.freq_hz || args.freq_hz > CAPTURE_MAX_FREQ_HZ)
		return err_set(err, -EINVAL, "-F: %llu is not within 1 to %d",
			       (unsigned long long)args.freq_hz, CAPTURE_MAX_FREQ_HZ);
	if (args.max_depth > WIRE_MAX_USER_FRAMES)
		return err_set(err, -EINVAL, "--max-depth: more than %d", WIRE_MAX_USER_FRAMES);
	if (ring && (ring < MIN_RING_BYTES || ring > MAX_RING_BYTES || (ring & (ring - 1))))
		return err_set(err, -EINVAL, "--ring-size: not a power of two from 64k to 1G");
	if (args.chunk_bytes > MAX_CHUNK_BYTES)
		return err_set(err, -EINVAL, "--chunk-size: more than 256M");
	if (args.memory_limit_bytes && args.memory_limit_bytes < MEMORY_LEAST_LIMIT_BYTES)
		return err_set(err, -EINVAL, "--memory-limit: less than 48M is not enough");
	if (args.view.all_user && args.view.all_kernel)
		return err_set(err, -EINVAL, "--all-user does not go with --all-kernel");
	return 0;
}

static int check_cpus(struct err *err)
{
	_cleanup_(cpu_list_release) struct cpu_list online = { 0 };

	if (!args.cpus.size || cpu_list_read_online(&online) < 0)
		return 0;
	for (unsigned int cpu = 0; cpu < args.cpus.size; cpu++)
		if (args.cpus.has[cpu] && !cpu_list_has(&online, cpu))
			return err_set(err, -EINVAL, "--cpu: cpu %u is not there, or not online",
				       cpu);
	return 0;
}

static bool has_event(bool (*is_such)(const struct capture_event *event))
{
	return capture_event_find(args.events, (unsigned int)args.event_names.len, is_such);
}

static int check_live(struct err *err)
{
	bool objects = has_event(capture_event_is_alloc),
	     memory = has_event(capture_event_is_malloc);

	if (args.live && args.agent == RECORDER_AGENT_NEVER && (objects || !memory)) {
		err_set(err, -EINVAL, "--live does not go with --agent=never");
		return err_hint(err, "it is the agent that knows which objects are alive");
	}
	if (args.live && !objects && !memory)
		return err_set(err, -EINVAL,
			       "--live: there is no -e alloc or malloc among the events");
	return 0;
}

static int parse_events(struct err *err)
{
	int rc;
	struct event_args events = { .freq_hz = (uint32_t)args.freq_hz,
				     .pids = args.pids.items,
				     .pid_count = (unsigned int)args.pids.len };

	if (!args.event_names.len)
		vec_push(&args.event_names, args.live ? "alloc" : "cpu");
	events.names = args.event_names.items;
	events.count = args.event_names.len;
	rc = event_args_parse(&events, args.events, err);
	for (size_t i = 0; !rc && i < args.event_names.len; i++)
		if (args.cpus.size && capture_event_has_waits(&args.events[i]))
			return err_set(err, -EINVAL,
				       "--cpu does not go with %s: a wait is on no cpu",
				       args.events[i].name);
	if (!rc)
		rc = event_args_parse_window(&events, args.events, &args.window_args, &args.window,
					     err);
	if (!rc && args.tells_wakers && !has_event(capture_event_has_waits) &&
	    !has_event(capture_event_is_lock))
		rc = err_set(
			err, -EINVAL,
			"--waker: there is no -e offcpu, nativelock, wall or lock among the events");
	return rc ? rc : check_live(err);
}

/* As given, else below the mount of the cgroup2 tree. */
static int find_cgroup(struct err *err)
{
	struct stat st;

	if (!args.cgroup)
		return 0;
	strbuf_addf(&args.cgroup_path, "%s", args.cgroup);
	if (args.cgroup[0] == '/' && !stat(args.cgroup_path.buf, &st) && S_ISDIR(st.st_mode))
		return 0;
	strbuf_reset(&args.cgroup_path);
	strbuf_addf(&args.cgroup_path, CGROUP_MOUNT "/%s", args.cgroup);
	if (!stat(args.cgroup_path.buf, &st) && S_ISDIR(st.st_mode))
		return 0;
	err_set(err, -ENOENT, "there is no cgroup %s", args.cgroup);
	return err_hint(err, "give a directory below " CGROUP_MOUNT);
}

static void join_command_line(int argc, char **argv)
{
	strbuf_addstr(&args.command_line, "hostprof");
	for (int i = 0; i < argc; i++)
		strbuf_addf(&args.command_line, " %s", argv[i]);
}

static int parse(const struct command_usage *command, int argc, char **argv,
		 struct record_args **ret_args)
{
	struct err err = { 0 };
	bool dashdash;
	int rest, rc;

	join_command_line(argc, argv);
	rc = options_parse(command, argc, argv, &rest, &dashdash, &err);
	if (rc == OPTIONS_HELP_SHOWN)
		return CMD_OK;
	if (!rc)
		rc = check_targets(dashdash, argc - rest, argv + rest, &err);
	if (!rc)
		rc = check_numbers(&err);
	if (!rc)
		rc = check_cpus(&err);
	if (!rc)
		rc = parse_events(&err);
	if (!rc)
		rc = find_cgroup(&err);
	if (rc)
		return cmd_fail_argument(&err);
	if (rest < argc)
		args.command = argv + rest;
	*ret_args = &args;
	return CMD_CONTINUE;
}

int record_args_parse(int argc, char **argv, struct record_args **ret_args)
{
	return parse(&usage, argc, argv, ret_args);
}

int stream_args_parse(int argc, char **argv, struct record_args **ret_args)
{
	return parse(&stream_usage, argc, argv, ret_args);
}
