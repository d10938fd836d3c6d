# SPDX-License-Identifier: Apache-2.0
"""Of perf events: names, fields, periods, breakpoints, probes of the kernel and of programs, cpus, and what counters say together."""
from .mutant import Mutant

CACHE = "userspace/capture/events/cache_event.c"
FIELD = "userspace/capture/events/pmu_field.c"
PMU = "userspace/capture/events/pmu_event.c"
WATCH = "userspace/capture/events/breakpoint.c"
EVENT = "userspace/capture/event.c"
EVENT_KIND = "userspace/capture/event_kind.c"
EVENTS = "userspace/capture/perf_events.c"
KPROBE = "userspace/capture/probes/kprobe.c"
USDT = "userspace/capture/probes/usdt.c"
SESSION = "userspace/capture/bpf_session.c"
BOOKS = "userspace/capture/capture_books.c"
NOTES = "userspace/elf/probe/usdt_notes.c"
SERVE = "userspace/elf/reader/reader_serve_probe.c"
FIND = "userspace/symbolize/probe_find.c"
PLACE = "userspace/symbolize/watch_find.c"
RATIO = "userspace/profile/event_ratio.c"
ARGS = "userspace/cmd/record_args.c"
LOOK = "userspace/cmd/event_args.c"
LIST = "userspace/cmd/list/list_events.c"
TEXT = "userspace/output/text/view_text.c"

NAMES = [
    Mutant("caches: misses are accesses", CACHE, "miss ? ops[op].misses : ops[op].accesses", "ops[op].accesses", ["test_cache_event"]),
    Mutant("caches: all have all", CACHE, "!(caches[cache].ops & 1U << op) || ", "", ["test_cache_event"]),
    Mutant("caches: what is done is where", CACHE, "op << 8 | miss << 16", "op << 16 | miss << 8", ["test_cache_event"]),
    Mutant("caches: by the clock", EVENT, "event->type == PERF_TYPE_HW_CACHE && !capture_has_pmu()", "0", ["test_event_pmu"]),
    Mutant("caches: none has a name", EVENT, "return cache_event_parse(name, &event->config);", "return -EINVAL;", ["test_event_pmu"]),
    Mutant("periods: not taken", EVENT, "if (r == 0 && period)", "if (0)", ["test_event"]),
    Mutant("periods: of clocks are numbers", EVENT, "is_clock ? units_parse_duration : units_parse_count", "0 ? units_parse_duration : units_parse_count",
           ["test_event"]),
    Mutant("periods: of nothing", EVENT, " ||\n	    !event->period) {", ") {", ["test_event"]),
    Mutant("periods: clocks of any", EVENT, "if (is_clock &&\n	    (event->period > NSEC_PER_SEC", "if (0 &&\n	    (event->period > NSEC_PER_SEC", ["test_event"]),
    Mutant("periods: within a PMU's terms", EVENT, "return strchr(slash ? slash : name, '=');", "return strchr(name, '=');", ["test_pmu_event"]),
    Mutant("periods: beside a frequency", EVENT, "} else if (event->period && event->type != PERF_TYPE_SOFTWARE) {", "} else if (0) {", ["test_event_pmu"]),
    Mutant("lists: a PMU's commas end its name", EVENT, "return end ? (size_t)(end - list) + strcspn(end, \",\") : strlen(list);",
           "return strcspn(list, \",\");", ["test_event"]),
    Mutant("lists: a breakpoint's length begins a PMU's", EVENT, " || breakpoint_is_name(list))", ")", ["test_event"]),
    Mutant("units: counts by 1024", "userspace/base/units.c", '{ "k", 1000 }', '{ "k", 1024 }', ["test_units"]),
]

PMUS = [
    Mutant("pmu: fields in the first word", FIELD, "uint64_t *config = &configs[field->config];", "uint64_t *config = &configs[0];", ["test_pmu_event"]),
    Mutant("pmu: the first piece of a field", FIELD, "} while (text_take_char(&cursor, ','));", "} while (0);", ["test_pmu_event"]),
    Mutant("pmu: what was there stays", FIELD, "*config &= ~field->mask;", "", ["test_pmu_event"]),
    Mutant("pmu: a value without room", PMU, "if (value > pmu_field_limit(&field))", "if (0)", ["test_pmu_event"]),
    Mutant("pmu: bits beyond a word", FIELD, "last > 63 || ", "", ["test_pmu_event"]),
    Mutant("pmu: names lead elsewhere", FIELD, "text[0] != '.' && ", "", ["test_pmu_event"]),
    Mutant("pmu: hexadecimal is decimal", "userspace/base/text/text_cursor.c", "hex ? 16 : 10", "10", ["test_pmu_event"]),
    Mutant("pmu: a number's end is not looked at", PMU, " && cursor.at == cursor.end", "", ["test_pmu_event"]),
    Mutant("pmu: events name events", PMU, "p->in_alias || ", "", ["test_pmu_event"]),
    Mutant("pmu: periods are fields", PMU, 'strcmp(key, "period") != 0 || !value', "1", ["test_pmu_event"]),
    Mutant("pmu: software by its number", PMU, "if (is_other(p.event.type))", "if (0)", ["test_pmu_event"]),
    Mutant("pmu: more words are not passed on", EVENTS, ".config1 = event->more_configs[0],", "", ["test_perf_places"]),
]

WATCHES = [
    Mutant("mem: reads and writes are writes", WATCH, "return HW_BREAKPOINT_RW;", "return HW_BREAKPOINT_W;", ["test_breakpoint"]),
    Mutant("mem: any length", WATCH, " || (len & (len - 1)))", ")", ["test_breakpoint"]),
    Mutant("mem: code of any length", WATCH, "if (b->access == HW_BREAKPOINT_X && b->len)\n		return false;", "", ["test_breakpoint"]),
    Mutant("mem: the offset is not added", WATCH, "address += b->plus;", "", ["test_breakpoint"]),
    Mutant("mem: any address", WATCH, "address % b->len == 0", "1", ["test_breakpoint"]),
    Mutant("mem: an address is the first process's", WATCH, "b->places[i].tgid = 0;", ";", ["test_breakpoint"]),
    Mutant("mem: more than a cpu has", WATCH, "if (b->count == BREAKPOINT_MAX_PLACES) {", "if (0) {", ["test_breakpoint"]),
    Mutant("mem: the first place alone is opened", EVENTS, "MAX(event->usdt.count, event->breakpoint.count)", "event->usdt.count", ["test_perf_places"]),
    Mutant("mem: hits of anybody", EVENTS, "return WIRE_COOKIE(o->index, o->event->breakpoint.places[o->place].tgid);", "return o->index;",
           ["test_perf_places"]),
    Mutant("mem: whoever runs is meant", "bpf/sample/target.h", "return !tgid || ", "return 1 || ", ["test_target"]),
    Mutant("mem: a thread is meant", "bpf/sample/target.h", "bpf_get_current_pid_tgid() >> 32", "(wire_u32)bpf_get_current_pid_tgid()", ["test_target"]),
    Mutant("mem: without -p", LOOK, "if (!args->pid_count) {", "if (0) {", ["test_record_args"]),
    Mutant("mem: an address in the file", PLACE, "struct found found = { bias + objects->object[i].address,", "struct found found = { objects->object[i].address,",
           ["test_watch_find"]),
    Mutant("mem: a library's before the program's", PLACE, "if (watch->found[i].in_program && watch->found[i].object.is_global)", "if (0)",
           ["test_watch_find"]),
    Mutant("mem: one of several", PLACE, "return watch->count == 1 ? &watch->found[0] : NULL;", "return watch->count ? &watch->found[0] : NULL;",
           ["test_watch_find"]),
    Mutant("mem: variables of threads", PLACE, "own->object.type == STT_TLS || ", "", ["test_watch_find"]),
    Mutant("mem: .symtab is not looked at", "userspace/elf/elf_symtab.c", "for_each_object_of_table(file, SHT_SYMTAB, name, fn, data);", "",
           ["test_watch_find"]),
]

PROBES = [
    Mutant("kprobe: a return at an offset", KPROBE, "return !probe->is_return && text", "return text", ["test_probes"]),
    Mutant("kprobe: no PMU is needed", "userspace/capture/probes/probe_pmu.c", 'if (pmu_type(pmu, ret_type) < 0 || ', "*ret_type = 6;\n\tif (", ["test_probes"]),
    Mutant("kprobe: a function at another place", EVENTS, "kprobe_fill_attr(&event->kprobe, attr);", ";", ["test_perf_places"]),
    Mutant("usdt: a path ends at a colon", USDT, "memrchr(text, ':', (size_t)(last - text))", "strchr(text, ':')", ["test_probes"]),
    Mutant("usdt: nobody listens", USDT, "probe->places[number].semaphore << SEMAPHORE_SHIFT", "0", ["test_probes", "test_perf_places"]),
    Mutant("usdt: all at the first place", USDT, "attr->probe_offset = probe->places[number].offset;", "attr->probe_offset = probe->places[0].offset;",
           ["test_probes"]),
    Mutant("usdt: at a function's entry", EVENT_KIND, "!event->usdt.name[0] &&", "1 &&", ["test_event"]),
    Mutant("notes: of any provider", NOTES, "!take_text(&words, search->provider) || ", "", ["test_usdt_notes"]),
    Mutant("notes: names that begin so", NOTES, "size_t bytes = strlen(text) + 1;", "size_t bytes = strlen(text);", ["test_usdt_notes"]),
    Mutant("notes: of any owner", NOTES, " &&\n	       memcmp(owner, ours, sizeof(ours)) == 0;", ";", ["test_usdt_notes"]),
    Mutant("notes: of any type", NOTES, "note->n_type == NOTE_TYPE && ", "", ["test_usdt_notes"]),
    Mutant("notes: a file that was moved", NOTES, "note.address += search->base - addresses[1];", "", ["test_usdt_notes"]),
    Mutant("notes: addresses behind their end", NOTES, "if ((size_t)(words->end - words->at) < words->word)\n		return false;", "", ["test_usdt_notes"]),
    Mutant("notes: without a semaphore", NOTES, ".semaphore = addresses[2]", ".semaphore = 0", ["test_usdt_notes"]),
    Mutant("usdt: one place of several", SERVE, "	usdt->count++;", "	usdt->count = 1;", ["test_probe_find"]),
    Mutant("usdt: a semaphore in the code", FIND, "segment_offset(file, PF_W, note->semaphore,", "segment_offset(file, PF_X, note->semaphore,",
           ["test_probe_find"]),
    Mutant("usdt: a probe that is not there", FIND, "if (!usdt->count) {", "if (0) {", ["test_probe_find"]),
]

CPUS = [
    Mutant("--cpu: all are sampled", "bpf/sample/target.h", "!settings.filter_cpus || ", "1 || ", ["test_target"]),
    Mutant("--cpu: the first 64", "bpf/sample/target.h", "cpus_wanted[cpu / 64]", "cpus_wanted[0]", ["test_target"]),
    Mutant("--cpu: is not passed on to BPF", SESSION, "skel->rodata->settings.filter_cpus = cpus != NULL;", "", ["test_bpf_session", "test_bpf_events"]),
    Mutant("--cpu: one bit for all", SESSION, "|= 1ULL << cpu % 64;", "|= 1;", ["test_bpf_session", "test_bpf_events"]),
    Mutant("--cpu: clocks of these cpus alone", EVENTS, "(!is_sampled && !capture_event_is_clock(event))", "!is_sampled", ["test_perf_places"]),
    Mutant("--cpu: counters of all", EVENTS, "(!is_sampled && !capture_event_is_clock(event))", "0", ["test_perf_places"]),
    Mutant("--cpu: all are told", BOOKS, "stats.cpus += !c->event_options.cpus ||", "stats.cpus += 1 ||", ["test_capture"]),
    Mutant("--cpu: is not passed on", "userspace/cmd/record_args_options.c", ".cpus = a->cpus.size ? &a->cpus : NULL,", "", ["test_record_args"]),
    Mutant("--cpu: cpus that are not there", ARGS, "if (args.cpus.has[cpu] && !cpu_list_has(&online, cpu))", "if (0)", ["test_record_args"]),
]

REPORTS = [
    Mutant("ratios: cycles per instruction", RATIO, "(double)a->weight / (double)b->weight", "(double)b->weight / (double)a->weight", ["test_event_ratio"]),
    Mutant("ratios: of the clock", RATIO, 'if (!strcmp(profile_get_string(p, e->unit), "count"))', "if (1)", ["test_event_ratio"]),
    Mutant("ratios: of another cache", RATIO, " && stem == other &&\n		    !strncasecmp(part, whole, stem)", "", ["test_event_ratio"]),
    Mutant("ratios: of nothing", RATIO, " || !events[i].weight || !events[j].weight", "", ["test_event_ratio"]),
    Mutant("ratios: the kernel's events, too", RATIO, "&& is_of_hardware(a->name)", "", ["test_event_ratio"]),
    Mutant("ratios: in each section", TEXT, "if (is_first)", "if (1)", ["test_view_text"]),
    Mutant("ratios: not in the summary", TEXT, "	others += put_ratios(&page);\n", "", ["test_view_text"]),
    Mutant("ratios: not on the page", "userspace/output/html/html_data.c", "event_ratios_for_each(p, add_ratio, &list);", "(void)add_ratio;",
           ["test_view_html"]),
    Mutant("list: all work", LIST, "err_set(why, said.code,", "err_set(why, 0,", ["test_list_events"]),
    Mutant("list: nothing is tried", LIST, "event.trigger == WIRE_TRIGGER_PERF && perf_event_try(&event, list->cpu, &said) < 0", "0", ["test_list_events"]),
    Mutant("list: of forms nothing is said", LIST, "if (row->example)", "if (0)", ["test_list_events"]),
    Mutant("list: rights do not matter", LIST, "else if (!list->may_open)", "else if (0)", ["test_list_events"]),
    Mutant("trying leaves it open", EVENTS, "	close(fd);\n	return 0;\n}\n\nint perf_event_open_place(", "	return 0;\n}\n\nint perf_event_open_place(",
           ["test_perf_places"]),
]

MUTANTS = NAMES + PMUS + WATCHES + PROBES + CPUS + REPORTS
