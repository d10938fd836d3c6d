# SPDX-License-Identifier: Apache-2.0
"""Of taking samples: which tasks, which events, which cpus, and the side-band."""
from .mutant import Mutant

TARGET = "bpf/sample/target.h"
CAPTURE = "userspace/capture/capture.c"
CPUS = "userspace/capture/capture_cpus.c"
BOOKS = "userspace/capture/capture_books.c"
EVENTS = "userspace/capture/perf_events.c"
EVENT = "userspace/capture/event.c"
EVENT_KIND = "userspace/capture/event_kind.c"
SIDEBAND = "userspace/capture/sideband.c"
DECODE = "userspace/capture/sideband_decode.c"
THREAD = "userspace/capture/urgent_thread.c"
CGROUP = "userspace/capture/cgroup_filter.c"
SAMPLE = "userspace/capture/rings/sample_check.c"
UPROBE = "userspace/capture/probes/uprobe.c"
PROBE_PMU = "userspace/capture/probes/probe_pmu.c"
TRACEPOINT = "userspace/capture/probes/tracepoint.c"
LOADS = "userspace/capture/kernel/program_loads.c"
BESIDE = ["test_program_loads"]
LOADED = "userspace/capture/bpf_session.c"
TYPES = "userspace/capture/kernel/kernel_types.c"
CUT = ["test_kernel_types"]
FIND = "userspace/symbolize/probe_find.c"

TICK = "bpf/sample/tick.h"
WEIGHT = ["test_tick"]
WANTED = ["test_target"]
WHOLE = ["test_capture"]
OPENED = ["test_perf_events"]
RING = ["test_sideband_ring"]
PLACED = ["test_probe_find"]

TASKS = [
    Mutant("hostprof samples itself", TARGET,
           "if ((wire_u32)task->tgid == settings.self_tgid)", "if (0)", WANTED),
    Mutant("hostprof does not know its own pid", CAPTURE, ".self_tgid = (uint32_t)getpid(),", ".self_tgid = 0,",
           WHOLE),
    Mutant("--cgroup filters nothing", TARGET,
           "bpf_get_current_ancestor_cgroup_id(settings.cgroup_level) != settings.cgroup_id)", "0)", WANTED),
    Mutant("--cgroup is not passed on", CAPTURE, "if (!options->cgroup_path)", "if (1)", WHOLE),
    Mutant("a target: any process of a cgroup's host", BOOKS, "return !c->cgroup_path || cgroup_filter_has(", "return 1 || cgroup_filter_has(", ["test_capture_targets"]),
    Mutant("a target: any process beside a pid", BOOKS, "if (c->filters_pids && bpf_map_lookup_elem(fd, &pid, &start_ns) < 0)", "if (0 && bpf_map_lookup_elem(fd, &pid, &start_ns) < 0)",
           ["test_capture_targets"]),
    Mutant("in a cgroup: any of its level", CGROUP, "wanted.st_dev == its.st_dev && wanted.st_ino == its.st_ino", "wanted.st_ino == its.st_ino", ["test_cgroup_filter"]),
    Mutant("--cgroup of another level", CGROUP, "level++;", "level += 2;", ["test_cgroup_filter"]),
    Mutant("--cgroup by a number of 32 bits", CGROUP, "*ret_id = st.st_ino;", "*ret_id = (uint32_t)st.st_ino;",
           ["test_cgroup_filter"]),
    Mutant("a reused pid stays a target", TARGET, "return *known == start_ns;", "return true;", WANTED),
    Mutant("a target has no start time", TARGET, "if (*known == 0)\n\t\t*known = start_ns;", "if (*known == 0)\n\t\treturn true;",
           WANTED),
    Mutant("a target that ended stays one", TARGET, "if (known && (*known == 0 || *known == start_ns))", "if (0)",
           WANTED),
    Mutant("the end of another process with its pid", TARGET,
           "if (known && (*known == 0 || *known == start_ns))", "if (known)", WANTED),
    Mutant("children of all processes are targets", TARGET,
           "if (target_has(parent->tgid, parent->group_leader->start_time))", "if (1)", WANTED),
    Mutant("children of a target's threads are none", TARGET,
           "if (target_has(parent->tgid, parent->group_leader->start_time))",
           "if (target_has(parent->tgid, parent->start_time))", WANTED),
    Mutant("-p samples everything", TARGET, "return !settings.filter_tgids ||", "return 1 ||", WANTED),
    Mutant("-p is not passed on", CAPTURE, ".filter_tgids = options->pid_count > 0,", ".filter_tgids = 0,", WHOLE),
    Mutant("only the first of -p", CAPTURE, "for (unsigned int i = 0; i < options->pid_count; i++) {",
           "for (unsigned int i = 0; i < MIN(options->pid_count, 1U); i++) {", WHOLE),
    Mutant("--all-user and --all-kernel mixed up", TARGET,
           "(in_user ? settings.exclude_user : settings.exclude_kernel)",
           "(in_user ? settings.exclude_kernel : settings.exclude_user)", WANTED),
    Mutant("idle cpus sampled unasked", TARGET, "return settings.include_idle;", "return true;", WANTED),
]

PERF = [
    Mutant("a clock leaves out modes", EVENTS, 
           "if (is_counter(event)) {",
           "if (event->trigger == WIRE_TRIGGER_PERF) {", OPENED),
    Mutant("modes of a counter mixed up", EVENTS, "attr.exclude_user = options->exclude_user;",
           "attr.exclude_user = options->exclude_kernel;", OPENED),
    Mutant("a period taken for a frequency", EVENTS, "attr->freq = o->period == 0;", "attr->freq = 1;", OPENED),
    Mutant("every event is the first", EVENTS, "		return o->index;\n", "		return 0;\n", OPENED),
    Mutant("every event on the first cpu", EVENTS, "syscall(SYS_perf_event_open, &attr, -1, (int)o->cpu, -1,",
           "syscall(SYS_perf_event_open, &attr, -1, 0, -1,", OPENED),
    Mutant("the timers of a clock are one", EVENTS, "i < WIRE_CLOCK_TIMERS && r == 0;", "i < 1 && r == 0;", OPENED),
    Mutant("the timers of a clock are in step", EVENTS, "{ 811, 949, 1109, 1356 }", "{ 1024, 1024, 1024, 1024 }",
           OPENED),
    Mutant("a clock faster than asked for", EVENTS, "period_ns * WIRE_CLOCK_TIMERS * timer_parts",
           "period_ns * (WIRE_CLOCK_TIMERS - 1) * timer_parts", OPENED),
    Mutant("a clock's timers are known to everybody", EVENTS,
           "return whole + ((whole >> TIMER_RANDOM_SHIFT) * (random & 0xffff) >> 16);", "return whole;", OPENED),
    Mutant("a clock of half the period", EVENT, "event->period = NSEC_PER_SEC / freq_hz;\n\t\tevent",
           "event->period = NSEC_PER_SEC / freq_hz / 2;\n\t\tevent", ["test_event"]),
    Mutant("a form is taken for a name", EVENT, "row->is_form || ", "", ["test_event"]),
    Mutant("faults by frequency", EVENT, "event->period = row->period;", "event->period = 0;", ["test_event"]),
]

PUMP = "userspace/capture/rings/ring_pump.c"
PUMPED = ["test_ring_pump"]
QUEUE = "userspace/capture/rings/record_queue.c"
QUEUED = ["test_record_queue"]

PUMPS = [
    Mutant("nobody reads the rings while the loop is busy", PUMP, "\t\tfill_queue(pump);\n\tif (pump->queue.len > before)",
           "\t\t(void)0;\n\tif (pump->queue.len > before)", PUMPED),
    Mutant("the loop is not told of records", PUMP, "\t\ttell(pump->news_fd);", "\t\t(void)0;", PUMPED),
    Mutant("the loop is told of nothing", PUMP, "if (pump->queue.len > before)", "if (before || true)", PUMPED),
    Mutant("a queue without an end", PUMP, "return pump->full ? -ENOBUFS : 0;", "return 0;", PUMPED),
    Mutant("a full queue is all there is", PUMP, "} while (more);", "} while (0);", PUMPED),
    Mutant("what still is in the rings waits", PUMP, "if (!pump->full)\n\t\tfill_queue(pump);", "", PUMPED),
    Mutant("records of the reader are taken twice", QUEUE, "\tqueue->len = 0;\n", "", PUMPED),
    Mutant("queue: stacks are never alike", QUEUE, "return len >= miss->copy_bytes / 2 ? len : 0;", "return 0;", QUEUED),
    Mutant("queue: little is shared", QUEUE, "return len >= miss->copy_bytes / 2 ? len : 0;", "return len;", QUEUED),
    Mutant("queue: another thread's stack", QUEUE, "known->tid != miss->tid || ", "", QUEUED),
    Mutant("queue: another place's stack", QUEUE, " || known->top != miss->copy_at + miss->copy_bytes", "", QUEUED),
    Mutant("queue: what is compared is not there whole", QUEUE, "if (!entry.shared)\n\t\t*stack", "*stack", QUEUED),
    Mutant("queue: the end of another record", QUEUE, "queue->data + entry.shared_end - entry.shared", "queue->data + entry.shared_end", QUEUED),
    Mutant("queue: the heap ends a stack", QUEUE, ".end = at + sizeof(entry) + copy_end(miss),", ".end = at + sizeof(entry) + len,", QUEUED),
    Mutant("queue: nothing is behind a stack", QUEUE, "entry.behind = (uint32_t)(len - copy_end(miss));", "", QUEUED),
    Mutant("queue: small copies, too", QUEUE, " && miss->copy_bytes >= LEAST_BYTES", "", QUEUED),
    Mutant("queue: a length is believed", QUEUE, "miss_check(record, len) == 0 && ", "len >= sizeof(*miss) && ", QUEUED),
    Mutant("queue: stacks of what was taken", QUEUE, "\tmemset(queue->stacks, 0, sizeof(queue->stacks));\n", "", QUEUED),
    Mutant("queue: memory is kept", QUEUE, "if (queue->room > KEPT_BYTES)", "if (0)", QUEUED),
    Mutant("a full queue stays so", PUMP, "\tpump->full = false;\n\tpthread_cond_signal(&pump->taken);",
           "\tpthread_cond_signal(&pump->taken);", PUMPED),
    Mutant("a thread that is less urgent", THREAD, "\tbe_as_urgent(thread);\n", "", PUMPED + ["test_urgent_thread"]),
    Mutant("a thread's signals", THREAD, "pthread_sigmask(SIG_SETMASK, &all, &old);", "pthread_sigmask(SIG_SETMASK, NULL, &old);",
           PUMPED + ["test_urgent_thread"]),
    Mutant("who has ended is calmed", THREAD, "\tnote(gettid(), 0);\n", "", ["test_urgent_thread"]),
    Mutant("nobody is calmed", THREAD, "\tnote(0, gettid());\n", "", ["test_urgent_thread"]),
    Mutant("why the program is not there is forgotten", CAPTURE, "if (c->load.error.code) {", "if (0) {", ["test_capture", "test_capture_places"]),
    Mutant("rings that the program does not get", CAPTURE, "err_sys(err, r, \"cannot start a thread\") : rings_publish(c->rings, err);", "r : 0;", WHOLE),
    Mutant("libbpf reads all types of the kernel", LOADED, "kernel_types_write(bpf_object__btf(skel->obj), types_fd) == 0", "1", ["test_bpf_session"]),
    Mutant("types that could not be cut are used", LOADED, "\thostprof_bpf__destroy(skel);\n\treturn hostprof_bpf__open();", "\treturn skel;", ["test_bpf_session"]),
    Mutant("types: a flavour is a name of the kernel's", TYPES, "flavour ? (size_t)(flavour - name) : strlen(name)", "strlen(name)", CUT),
    Mutant("types: what a pointer points to comes along", TYPES, "btf_is_ptr(cut_type(cut, id)) ? &cut->any_pointer : &cut->new_ids[id]", "&cut->new_ids[id]", CUT),
    Mutant("types: a pointer points to what it did", TYPES, "case BTF_KIND_PTR: copy.type = BTF_VOID; break;", "case BTF_KIND_PTR: break;", CUT),
    Mutant("types: a member's type has the kernel's number", TYPES, "int r = cut_take(cut, member.type, &member.type);", "uint32_t other;\n\t\tint r = cut_take(cut, member.type, &other);", CUT),
    Mutant("types: elements of an array have the kernel's number", TYPES, "int r = cut_take(cut, array.type, &array.type);", "uint32_t other;\n\tint r = cut_take(cut, array.type, &other);", CUT),
    Mutant("types: names of members are the kernel's", TYPES, "member.name_off = cut_add_string(cut, member.name_off);", "", CUT),
    Mutant("types: enumerations keep their number of values", TYPES, "copy.info &= ~BTF_INFO_VLEN(~0U);", "", CUT),
    Mutant("types: those that end early are read", TYPES, "if ((size_t)more > left - sizeof(*type))", "if (0)", CUT),
    Mutant("types: a number that there is not is looked up", TYPES, "if (id >= cut->at.len)", "if (0)", CUT),
    Mutant("types: an unknown kind has nothing behind it", TYPES, "default: return -1;", "default: return 0;", CUT),
    Mutant("another array of rings", LOADED, "r = bpf_map__reuse_fd(session->skel->maps.rings, options->rings_fd);", "r = 0;", ["test_bpf_session"]),
]

ALL_CPUS = [
    Mutant("a cpu that came is not sampled", CPUS, "else if (!was)", "else if (0)", WHOLE),
    Mutant("sampling never begins", CAPTURE, "bpf_session_set_sampling(c->session, clock_now_ns());", "", WHOLE),
    Mutant("sampling does not end", CAPTURE, "bpf_session_set_sampling(c->session, 0);", "", WHOLE),
    Mutant("buffers for every cpu that could be", CPUS, "c->online_count = MIN(c->load.online.size, possible.size);",
           "c->online_count = possible.size;", WHOLE),
    Mutant("a cpu that came has no ring", CPUS, "int r = rings_add(c->rings, cpu, err);", "int r = 0;", WHOLE),
    Mutant("records that are not whole vanish", "userspace/capture/rings/rings_deliver.c",
           "else\n\t\thandler->invalid(data, len, handler->data);", "", ["test_sample_check", "test_rings"]),
    Mutant("samples before the side-band", CPUS, "rings_drain(c->rings, &rings);\n}", "}", WHOLE),
    Mutant("side-band losses of one cpu", CPUS, "c->side_lost +=", "c->side_lost =", WHOLE),
    Mutant("counters of one cpu", BOOKS, "sum += values[cpu];",
           "sum = values[cpu];", WHOLE),
    Mutant("lost samples told again", BOOKS, "bpf_map_lookup_and_delete_elem(fd, &key, &lost) == 0)",
           "bpf_map_lookup_elem(fd, &key, &lost) == 0)", WHOLE),
    Mutant("a target's start time made up", BOOKS, "uint64_t start_ns = 0;", "uint64_t start_ns = 1;", WHOLE),
]

SIDE = [
    Mutant("records around the ring's end are torn", SIDEBAND, "memcpy(held->data + held->len + first, ring, len - first);", "",
           RING),
    Mutant("records are told again", SIDEBAND, "__atomic_store_n(&page->data_tail, page->data_tail + len, __ATOMIC_RELEASE);", "",
           RING),
    Mutant("what is relieved has no bound", SIDEBAND, " && left <= room", "", RING),
    Mutant("a ring with room is relieved", SIDEBAND, "waiting >= SIDEBAND_BYTES / RELIEVED_PART && ", "", RING),
    Mutant("what was relieved is told twice", SIDEBAND, "	s->held = empty;\n", "", RING),
    Mutant("each side-band has all the room", "userspace/capture/rings/ring_pump.c", "room -= MIN(left, room);", ";", ["test_ring_pump_sides"]),
    Mutant("calm side-bands are looked at as often", "userspace/capture/rings/ring_pump.c", "relieve_sides(pump) ? SIDE_MS : CALM_SIDE_MS;", "(relieve_sides(pump), SIDE_MS);", ["test_ring_pump_sides"]),
    Mutant("the pump is awake while the taker waits", PUMP, "bool may = !mood->flood && pump->thread.policy != SCHED_OTHER;", "bool may = false;", ["test_ring_pump"]),
    Mutant("one who takes may wait for a cpu alone", PUMP, " && pump->thread.policy != SCHED_OTHER;", ";", ["test_ring_pump"]),
    Mutant("a flood is the taker's alone", PUMP, "bool may = !mood->flood && ", "bool may = ", ["test_ring_pump"]),
    Mutant("who is at work for long is not relieved", PUMP, "waits ? &never : &once", "&never", ["test_ring_pump"]),
    Mutant("a taker at work need not be looked after", PUMP, "may = may && atomic_load(&pump->taker_waits);", "", ["test_ring_pump"]),
    Mutant("who drains hides that he waits", CPUS, "rings_taker_waits(c->rings, waits);", "(void)c, (void)waits;", ["test_capture"]),
    Mutant("the loop hides that it waits", "userspace/session/recorder.c", "	loop_on_wait(rec->loop, on_wait, rec);", "	(void)on_wait;", ["test_recorder_loop"]),
    Mutant("loop: it always waits", "userspace/base/loop.c", "		tell_waiting(loop, false);", "		;", ["test_loop"]),
    Mutant("loop: an edge is a level", "userspace/base/loop.c", "EPOLLIN | source->edge", "EPOLLIN", ["test_loop"]),
    Mutant("a full queue leaves side-bands", "userspace/capture/rings/ring_pump.c", "&until);\n		relieve_sides(pump);", "&until);", ["test_ring_pump_sides"]),
    Mutant("a side-band that is closed is relieved", "userspace/capture/capture_cpus.c", "		rings_remove_side(c->rings, slot->sideband);", "		;", ["test_capture_cpus"]),
    Mutant("side-band losses not told", SIDEBAND, "lost += event.lost;", "", RING),
    Mutant("side-band in another clock", SIDEBAND, ".clockid = CLOCK_MONOTONIC,", ".clockid = CLOCK_REALTIME,",
           RING),
    Mutant("an exec looks like a new name", SIDEBAND, ".comm_exec = 1,", "", RING),
    Mutant("no forks and exits", SIDEBAND, ".task = 1,", "", RING),
    Mutant("every exec is a new name", DECODE,
           "r->header.misc & PERF_RECORD_MISC_COMM_EXEC ? SIDE_EXEC : SIDE_COMM", "SIDE_COMM", ["test_sideband"]),
    Mutant("a child is its own parent", DECODE, "e->ppid = t.ppid;", "e->ppid = t.pid;", ["test_sideband"]),
    Mutant("a mapping's file offset lost", DECODE, "e->pgoff = m.pgoff;", "", ["test_sideband"]),
    Mutant("forks and exits mixed up", DECODE, "r->header.type == PERF_RECORD_FORK ? SIDE_FORK : SIDE_EXIT",
           "r->header.type == PERF_RECORD_FORK ? SIDE_EXIT : SIDE_FORK", ["test_sideband"]),
    Mutant("a thread's exit is its process's", DECODE, "e->tid = t.tid;", "e->tid = t.pid;", ["test_sideband"]),
    Mutant("words that are no whole frames pass", SAMPLE,
           "return at == sample->user_words && frames == sample->user_frames ? 0 : -EBADMSG;", "return 0;",
           ["test_sample_check"]),
]

WEIGHTS = [
    Mutant("a tick weighs its timer's whole period", TICK, "return periods * in->share_ns;", "return periods * in->period_ns;",
           WEIGHT),
    Mutant("skipped expiries weigh nothing", TICK, "periods += (in->now_ns - in->expiry_ns) / in->period_ns;", "", WEIGHT),
    Mutant("skipped expiries of a cpu that was stolen", TICK, "weight = owed > share ? owed : share;", "", WEIGHT),
    Mutant("run time without ticks is not made up for", TICK,
           "weight += (owed - (weight - share) - (share >> TICK_LEAST_SHIFT)) >> shift;", "", WEIGHT),
    Mutant("all that is owed at once", TICK, "#define TICK_OWED_SHIFT 3", "#define TICK_OWED_SHIFT 0", WEIGHT),
    Mutant("an old thread's first sample stands for less", TICK,
           "return in->run_ns > in->share_ns ? in->run_ns - in->share_ns : 0;", "return in->run_ns;", WEIGHT),
    Mutant("the books do not follow", TICK, "*seen_ns += (wire_u64)weight;", "", WEIGHT),
    Mutant("a clock that stood still is made up for", TICK, "if (owed > TICK_MAX_OWED * share) {", "if (0) {", WEIGHT),
    Mutant("a gap is not told", TICK, "ret->gap_ns = (wire_u64)owed;", "", WEIGHT),
    Mutant("weights below nothing", TICK, "if (weight < share >> TICK_LEAST_SHIFT)\n\t\tweight = share >> TICK_LEAST_SHIFT;",
           "", WEIGHT),
]

PROBES = [
    Mutant("a probe's period by frequency", EVENT, "\tevent->period = 1;\n\tevent->freq_hz = 0;", "", ["test_event"]),
    Mutant("allocations are told by one program", EVENT_KIND, "return trigger >= WIRE_TRIGGER_ALLOC_AGENT;", "return trigger == WIRE_TRIGGER_RAW;",
           ["test_event"]),
    Mutant("alloc=64k is another event", EVENT, "event->period = CAPTURE_ALLOC_INTERVAL;\n\tevent->freq_hz = 0;\n\tsnprintf(event->name, sizeof(event->name), \"%s\", kind->name);",
           "event->period = CAPTURE_ALLOC_INTERVAL;\n\tevent->freq_hz = 0;", ["test_event"]),
    Mutant("the interval of allocations is not read", EVENT, "units_parse_bytes(interval + 1, &event->period) == 0 &&", "",
           ["test_event"]),
    Mutant("a lost allocation weighs its size", "bpf/sample/alloc.h", "return interval + size / 2 + size * size / (12 * interval);",
           "return size;", ["test_alloc"]),
    Mutant("a probe on every cpu", EVENTS, "triggers_run[event->trigger] != runs ||", "0 ||",
           OPENED),
    Mutant("only probes are shared", EVENTS, "triggers_run[event->trigger] != runs ||",
           "(runs == RUNS_HOST ? event->trigger != WIRE_TRIGGER_UPROBE : triggers_run[event->trigger] != runs) ||", OPENED),
    Mutant("perf samples tracepoints, too", EVENTS, "attr->sample_period = 0;", "attr->sample_period = 1;", OPENED),
    Mutant("a probe without its place", EVENTS, "uprobe_fill_attr(&event->probe, attr);", ";", OPENED),
    Mutant("a probe at the file's beginning", UPROBE, "attr->probe_offset = probe->offset;", "", ["test_uprobe"]),
    Mutant("returns are calls", PROBE_PMU, "pmu_field_put(&field, is_return, configs);", "", ["test_uprobe", "test_probes"]),
    Mutant("the bit of returns is known", PROBE_PMU, "*ret_config = configs[0];", "*ret_config = is_return;", ["test_uprobe", "test_probes"]),
    Mutant("a return at an offset", UPROBE, "probe->is_return || !uprobe_parse_plus", "!uprobe_parse_plus", ["test_uprobe"]),
    Mutant("a library's path ends at a colon", UPROBE, "strrchr(text, ':'), *function", "strchr(text, ':'), *function",
           ["test_uprobe"]),
    Mutant("a tracepoint's name leads elsewhere", TRACEPOINT, "strspn(text, allowed) >= len", "text[0]", ["test_tracepoint"]),
    Mutant("tracefs in one place only", TRACEPOINT, '"/sys/kernel/tracing", "/sys/kernel/debug/tracing" }',
           '"/sys/kernel/tracing", "/sys/kernel/tracing" }', ["test_tracepoint"]),
    Mutant("programs of triggers are not loaded", LOADED, "bpf_program__set_autoload(session_program(session, trigger), true);",
           "", ["test_bpf_session", "test_bpf_events"]),
    Mutant("every probe is at a function's entry", EVENT_KIND, "!event->probe.is_return && !event->probe.plus", "1",
           ["test_bpf_session", "test_bpf_events"]),
    Mutant("the raw tracepoint is the first event", LOADED, "skel->rodata->trigger_event[t] = i;", ";", ["test_bpf_session", "test_bpf_events"]),
    Mutant("misses of before", LOADED, "session->missed_before = session_missed_ever(session);", "", ["test_bpf_session", "test_bpf_events"]),
    Mutant("misses of afterwards", LOADED, "if (!session->runs)\n\t\treturn session->missed;", "", ["test_bpf_session", "test_bpf_events"]),
    Mutant("what the kernel missed is no loss", BOOKS, "stats->counters[WIRE_COUNTER_LOST] += missed;", "", WHOLE),
    Mutant("probes stay when all is closed", CAPTURE, "perf_events_release(&c->shared);", "", WHOLE),
    Mutant("probes on the first cpu", CPUS, "while (cpu + 1 < online->size && !online->has[cpu])\n\t\tcpu++;", "", WHOLE),
    Mutant("an unknown state passes", SAMPLE, "sample->state >= WIRE_STATE_COUNT || ", "", ["test_sample_check"]),
    Mutant("an unknown cause passes", SAMPLE, " || sample->cause >= WIRE_CAUSE_COUNT", "", ["test_sample_check"]),
    Mutant("a library of another file name", FIND, "slash && strcmp(slash + 1, name) == 0", "slash && 0", PLACED),
    Mutant("a library's soname is not looked at", FIND, "count = keep_files(&search, &kept, has_soname);", "", PLACED),
    Mutant("the first of two libraries", FIND, "if (count > 1)", "if (0)", PLACED),
    Mutant("a file that is gone by its path", FIND, "same ? file->path : link", "file->path", PLACED),
    Mutant("resolvers are probed", FIND, "if (places->is_ifunc) {", "if (0) {", PLACED),
    Mutant("a place outside of the code", "userspace/elf/elf_file.h",
           "address - segments[i].address < segments[i].file_size)", "1)", PLACED),
    Mutant("an address for an offset", "userspace/elf/elf_file.h", "return segment->offset + (address - segment->address);", "return address;",
           PLACED),
]

ALIVE = ["test_capture_cpus"]
HOTPLUG = [
    Mutant("a cpu that comes back at once is not noticed", CPUS, "if (!missing_ns && !woke)", "if (1)", ALIVE),
    Mutant("a cpu without perf events is always new", CPUS, "was = c->cpus[cpu].is_on;", "was = c->cpus[cpu].events.open.len > 0;", ALIVE),
    Mutant("a cpu that went offline is there yet", CPUS, "	slot->is_on = false;\n	/* The side-band's last", "	/* The side-band's last", ALIVE),
    Mutant("a suspend is not noticed", CPUS, "if (!missing_ns && !woke)", "if (!missing_ns)", ALIVE),
    Mutant("every look opens events anew", CPUS, "MAX(elapsed_ns >> LAG_SHIFT, LEAST_LAG_NS)", "0", ALIVE),
    Mutant("what lagged before is forgotten", CPUS, "return missing_ns + slot->late_ns;", "return missing_ns;", ALIVE),
    Mutant("time that nobody saw is not counted", CPUS, "c->unobserved_ns += ns;", ";", ALIVE),
    Mutant("a gap is not told to the books", CPUS, "c->side_gap = true;", ";", ALIVE),
    Mutant("a gap is told for ever", CPUS, "c->side_gap = false;", ";", ALIVE),
    Mutant("a cpu that is off is unobserved", CPUS, "slot->asked_ns = clock_now_ns();\n}\n\n/* All cpus", "}\n\n/* All cpus", ALIVE),
    Mutant("clocks that differ are a suspend", CPUS, " + LEAST_SUSPEND_NS)\n\t\treturn false;", ")\n\t\treturn false;", ALIVE),
    Mutant("throttled events are processes'", CPUS, "if (event->kind == SIDE_THROTTLE) {", "if (0) {", ALIVE),
    Mutant("events go on that were never stopped", CPUS, "} else if (c->throttled_now) {", "} else {", ALIVE),
    Mutant("a throttle record has a trailer", "userspace/capture/sideband_decode.c",
           "if (r.header.type == PERF_RECORD_THROTTLE || r.header.type == PERF_RECORD_UNTHROTTLE)", "if (0)",
           ["test_sideband"]),
    Mutant("capture: what was counted before counts as unseen", "userspace/capture/capture.c", "	capture_add_counts(c, -1);\n", "", ["test_capture_cpus"]),
    Mutant("capture: what a cpu counted that went is lost", "userspace/capture/capture_cpus.c", "	if (c->samples)\n		perf_events_add_counts(",
           "	if (0)\n		perf_events_add_counts(", ["test_capture_cpus"]),
    Mutant("capture: a period that has begun is unseen", "userspace/capture/capture_books.c", ".unseen = unseen - MIN(begun, unseen),",
           ".unseen = unseen,", ["test_capture_cpus"]),
    Mutant("capture: clocks are compared with their ticks", "userspace/capture/perf_events.c",
           "!is_counter(&options->events[one->event]) ||", "", ["test_perf_events"]),
]

LOADING = [
    Mutant("loads: libbpf loads what is loaded beside it", LOADS, "return bpf_program__set_insns(program, nothing, ARRAY_SIZE(nothing));", "(void)nothing;\n\treturn 0;", BESIDE),
    Mutant("loads: nothing tells of what libbpf does not load", LOADS, "options->func_info_cnt = options->line_info_cnt = 0;", "", BESIDE),
    Mutant("loads: small ones have a thread, too", LOADS, "|| count < LEAST_INSTRUCTIONS)", ")", BESIDE),
    Mutant("loads: whoever loads an object", LOADS, "\tpreparing = NULL;\n", "", BESIDE),
    Mutant("loads: the descriptor of what does nothing", LOADS, "if (loads->loads.items[i]->program == program)", "if (0)", BESIDE),
    Mutant("loads: any program's descriptor", LOADS, "if (loads->loads.items[i]->program == program)", "if (program)", BESIDE),
    Mutant("loads: nobody hears of one that is refused", LOADS, "if (loads->loads.items[i]->fd < 0)", "if (0)", BESIDE),
    Mutant("loads: on all cpus", LOADS, "MIN(cpus / 2,", "MIN(cpus,", BESIDE),
    Mutant("loads: threads are as urgent as who starts them", LOADS, "\tpthread_attr_setinheritsched(&usual, PTHREAD_EXPLICIT_SCHED);\n", "", BESIDE),
    Mutant("loads: and as nice", LOADS, "if (getpriority(PRIO_PROCESS, 0) < 0)", "if (0)", BESIDE),
    Mutant("loads: who waits lends nothing", LOADS, "policy != SCHED_OTHER && i < loads->thread_count", "0 && i < loads->thread_count", BESIDE),
    Mutant("loads: descriptors stay open", LOADS, "\t\tif ((*load)->fd >= 0)\n\t\t\tclose((*load)->fd);\n", "", BESIDE),
    Mutant("loads: one cpu has a thread", LOADS, "if (!handles || cpus < 2)", "if (!handles)", BESIDE),
    Mutant("loads: libbpf is not asked again", LOADED, "\tsession_drop(session);\n\treturn session_load(session, options, err);", "\treturn r;", ["test_bpf_session"]),
    Mutant("loads: what was loaded beside is not asked", LOADED, "program_loads_fd(session->loads, program)", "bpf_program__fd(program)", ["test_bpf_session"]),
    Mutant("loads: the first try stays", LOADED, "\tprogram_loads_free(TAKE_PTR(session->loads));\n", "\tsession->loads = NULL;\n", ["test_bpf_session"]),
]

MUTANTS = LOADING + HOTPLUG + TASKS + WEIGHTS + PERF + PUMPS + ALL_CPUS + SIDE + PROBES
