# SPDX-License-Identifier: Apache-2.0
"""Of the model, the tables below it, units, and what a command line asks for."""
from .mutant import Mutant

PROFILE = "userspace/profile/profile.c"
INDEX = "userspace/profile/sample_index.c"
FILTER = "userspace/profile/filter.c"
MATCH = "userspace/profile/match.c"
QUALITY = "userspace/profile/quality.c"
KIND = "userspace/profile/frame_kind.c"
TITLE = "userspace/profile/title.c"
HMAP = "userspace/base/hmap.c"
UNITS = "userspace/base/units.c"
WORKER = "userspace/base/worker.c"
ARGS = "userspace/cmd/record_args.c"
ARGS_TOLD = "userspace/cmd/record_args_options.c"

SAMPLES = ["test_sample_index", "test_profile"]
MATCHES = ["test_match", "test_cmd_report"]
SUMS = ["test_quality", "test_profile", "test_pipeline_losses", "test_pipeline_chunks"]
ASKED = ["test_record_args"]

MODEL = [
    Mutant("samples of other events are added up", INDEX, "a->event == b->event", "1", SAMPLES),
    Mutant("samples of other threads are added up", INDEX, "a->thread == b->thread", "1", SAMPLES),
    Mutant("a pattern is a beginning", MATCH, "!open_begin && !open_end && name_len > len", "0", MATCHES),
    Mutant("what is excluded is shown", MATCH, "&& !(known & KNOWN_EXCLUDED)", "", MATCHES),
    Mutant("added up by number, not by weight", INDEX, "have->weight += s->weight;", "have->weight++;", SAMPLES),
    Mutant("added up samples count once", INDEX, "have->count += s->count;", "", SAMPLES),
    Mutant("objects of added up samples are lost", INDEX, "have->objects += s->objects;", "", SAMPLES),
    Mutant("objects of other ages are added up", INDEX, "a->age == b->age", "1", SAMPLES),
    Mutant("the last time of several", INDEX, "MIN(have->time_ns, s->time_ns)", "MAX(have->time_ns, s->time_ns)",
           SAMPLES),
    Mutant("samples lost when the table grows", INDEX, "index->slots[to] = old[i];", "", SAMPLES),
    Mutant("cleared samples are found again", INDEX,
           "memset(index->slots, 0, (index->mask + 1) * sizeof(*index->slots));", ";", SAMPLES),
    Mutant("quality of one event for all", PROFILE, "(uint64_t)v->process << 32 | v->event;",
           "(uint64_t)v->process << 32;", SUMS),
    Mutant("lost samples of one chunk", PROFILE, "have->lost += v->lost;", "", SUMS),
    Mutant("lost weight of one chunk", PROFILE, "have->lost_weight += v->lost_weight;", "", SUMS),
    Mutant("complete stacks of one chunk", PROFILE, "have->complete += v->complete;", "", SUMS),
    Mutant("a counter's last value", PROFILE, "p->counters.items[at].value += value;",
           "p->counters.items[at].value = value;", SUMS),
    Mutant("counters of all details are one", PROFILE, "(uint64_t)counter.name << 32 | counter.detail;",
           "(uint64_t)counter.name << 32;", SUMS),
    Mutant("quality of all events together", QUALITY, "if (event != PROFILE_NONE && q->event != event)", "if (0)", SUMS),
    Mutant("quality of all processes", QUALITY, "if (process != PROFILE_NONE && q->process != process)", "if (0)", SUMS),
    Mutant("shares rounded to whole per cents", QUALITY, "hundredths / 100, hundredths % 100", "hundredths / 100, 0",
           SUMS),
    Mutant("--all-user keeps the kernel's last frame", FILTER, "stack.frames += kernel;\n\t\tstack.len -= kernel;",
           "stack.frames += kernel - 1;\n\t\tstack.len -= kernel - 1;", ["test_filter"]),
    Mutant("--all-kernel filters nothing", FILTER, "stack.len = kernel;", "", ["test_filter"]),
    Mutant("--event shows the first", FILTER, "if (wanted == PROFILE_NONE)", "if (1)", ["test_filter"]),
]

BASE = [
    Mutant("different bytes are one entry", HMAP, "e->hash == hash && e->len == len && !memcmp(e->data, data, len)",
           "e->hash == hash", ["test_hmap"]),
    Mutant("a prefix is the same", HMAP, "e->hash == hash && e->len == len &&", "e->len >= len &&",
           ["test_hmap"]),
    Mutant("minutes of a hundred seconds", UNITS, '"m", 60', '"m", 100', ["test_units"]),
    Mutant("decimal fractions lost", UNITS, "billionths = (uint64_t)((__uint128_t)billionths * unit->factor / 1000000000);",
           "billionths = 0;", ["test_units"]),
    Mutant("a kilobyte of a thousand bytes", UNITS, '{ "kB", 1 << 10 }', '{ "kB", 1000 }', ["test_units"]),
]

OPTIONS = [
    Mutant("-F is ignored", ARGS, "(uint32_t)args.freq_hz,", "99,", ASKED),
    Mutant("only the first of -e", ARGS, "events.count = args.event_names.len;",
           "events.count = 1;", ASKED),
    Mutant("--all-user is --all-kernel", ARGS_TOLD, ".exclude_user = a->view.all_kernel,", ".exclude_user = a->view.all_user,",
           ASKED),
    Mutant("--include-idle is ignored", ARGS_TOLD, ".include_idle = a->include_idle,", "", ASKED),
    Mutant("--cgroup of the command line is not asked for", ARGS_TOLD, ".cgroup_path = a->cgroup ? a->cgroup_path.buf : NULL,",
           ".cgroup_path = NULL,", ASKED),
    Mutant("-p of the command line is not asked for", ARGS_TOLD, ".pid_count = (unsigned int)a->pids.len,",
           ".pid_count = 0,", ASKED),
    Mutant("-d is ignored", ARGS_TOLD, ".duration_ns = a->duration_ns,", "", ASKED),
    Mutant("-a with a command is ignored", ARGS_TOLD, ".whole_host = a->all,", "", ASKED),
    Mutant("--max-depth is ignored", ARGS_TOLD, ".max_depth = (uint32_t)a->max_depth,", "", ASKED),
    Mutant("--unwind is ignored", ARGS_TOLD, ".frame_pointers_only = a->frame_pointers_only,", "", ASKED),
    Mutant("one event twice", ARGS, "if (!strcmp(args.event_names.items[i], arg))", "if (0)", ASKED),
]

GROUPS = "userspace/profile/thread_groups.c"
SHOWN = ["test_frame_kind"]
GROUPED = ["test_thread_groups"]

NAMES = [
    Mutant("names: hidden classes keep their number", KIND, "if (number + 1 < len && text_is_digit(name[number + 1]))", "if (0)", SHOWN),
    Mutant("names: lambdas keep theirs", KIND, "if (found && at == len)", "if (0)", SHOWN),
    Mutant("names: any class with $$Lambda$ is a lambda", KIND, "if (found && at == len)", "if (found)", SHOWN),
    Mutant("names: any accessor is generated", KIND, '!memmem(name, end, ".Generated", strlen(".Generated"))', "0", SHOWN),
    Mutant("names: an array of hidden classes is none", KIND, "strbuf_addstr(sb, name + brackets);", "", SHOWN),
    Mutant("names: --no-normalize does nothing", KIND, "if (!(names & FRAME_NAMES_EXACT))", "if (1)", SHOWN),
    Mutant("names: bytecode indices of native code", KIND, "FRAME_NAMES_BCI && frame_kind_has_method(f->kind) &&", "FRAME_NAMES_BCI &&", SHOWN),
    Mutant("names: patterns fit what is shown only", MATCH, "{ { .names = 0 },", "{ { .names = FRAME_NAMES_EXACT },", ["test_match"]),
    Mutant("groups: C1 and C2 are one", GROUPS, "return !name[end] && begin >= 2 && is_letter(name[begin - 2]);", "return true;", GROUPED),
    Mutant("groups: of all processes", GROUPS, ".process = thread->process,", ".process = 0,", GROUPED),
    Mutant("groups: with the tid of one of them", GROUPS, ".tid = PROFILE_TID_GROUP", ".tid = thread->tid", GROUPED),
    Mutant("groups: the rest of a batch is lost", GROUPS, "MIN(samples.len - i, PROFILE_BATCH)", "samples.len < PROFILE_BATCH ? samples.len : PROFILE_BATCH / 2", GROUPED),
    Mutant("groups: --thread-groups does nothing", "userspace/cmd/view_flags.c", "if (flags->thread_groups)", "if (0)", ["test_cmd_report"]),
]

MUTANTS = MODEL + BASE + OPTIONS + NAMES
