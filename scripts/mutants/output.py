# SPDX-License-Identifier: Apache-2.0
"""Of recordings and views: weights, times and names between what was sampled and what is read."""
from .mutant import Mutant

SAMPLES = "userspace/recording/read_events.c"
EACH_SAMPLE = "userspace/recording/samples/read_sample.c"
READER = "userspace/recording/read.c"
WRITER = "userspace/recording/write.c"
EVENTS = "userspace/recording/write_events.c"
MODEL = "userspace/recording/read_pools.c"
COLUMNS = "userspace/output/html/html_columns.c"
TREE = "userspace/output/calltree.c"
PPROF = "userspace/output/pprof/view_pprof.c"
SVG = "userspace/output/svg/svg_layout.c"

RECORDING = ["test_recording"]
TIMES = ["test_recording_times"]
HTML = ["test_html_columns"]

MUTANTS = [
    Mutant("output: ticks of other producers taken for nanoseconds", EACH_SAMPLE,
           "(since * 1000000000 / (__int128)reader->ticks_per_second)", "since", TIMES),
    Mutant("output: ticks per second of our own", READER, "reader->ticks_per_second = be64toh(header->ticks_per_second);",
           "reader->ticks_per_second = JFR_TICKS_PER_SECOND;", TIMES),
    Mutant("output: ticks from the machine's start", READER, "reader->start_ticks = be64toh(header->start_ticks);",
           "reader->start_ticks = 0;", TIMES),
    Mutant("output: a second chunk's wall clock is the first's", READER,
           "reader->start_wall_ns = be64toh(header->start_wall_ns);",
           "if (!reader->start_wall_ns)\n\t\treader->start_wall_ns = be64toh(header->start_wall_ns);", TIMES),
    Mutant("output: a profile begins with its last chunk", READER, "if (!reader->ours && !p->start_ns)", "if (!reader->ours)", TIMES),
    Mutant("output: a recording as long as its first chunk", READER, "if (end > p->start_ns + p->duration_ns)",
           "if (!p->duration_ns)", TIMES),
    Mutant("output: a second chunk begins where the first does", WRITER, "chunk->start_ns = MAX(writer->end_ns, p->start_ns);",
           "chunk->start_ns = p->start_ns;", TIMES),
    Mutant("output: a second chunk's wall clock is the recording's", WRITER,
           "chunk->start_wall_ns = p->start_wall_ns + (chunk->start_ns - p->start_ns);",
           "chunk->start_wall_ns = p->start_wall_ns;", TIMES),
    Mutant("output: a chunk ends before its last sample", WRITER,
           "writer->end_ns = MAX(writer->end_ns, p->samples.items[i].time_ns);", ";", TIMES),
    Mutant("output: a chunk without its last second", WRITER,
           "writer->end_ns = MAX(writer->end_ns, p->start_ns + p->duration_ns);", ";", TIMES),
    Mutant("output: entries of the first chunk are not written again", WRITER,
           "*chunk = (struct chunk){ .open = true };", "chunk->open = true;", TIMES),
    Mutant("output: every weight is one", EACH_SAMPLE, "jfr_has(found, SAMPLE_WEIGHT) ? v->number[SAMPLE_WEIGHT] : 1,", "1,", RECORDING),
    Mutant("output: counts of merged samples lost", EACH_SAMPLE, "jfr_has(found, SAMPLE_COUNT) ? v->number[SAMPLE_COUNT] : 1,", "1,",
           RECORDING),
    Mutant("output: the last batch is not merged", SAMPLES, "r = read_events(reader, readers, reader->events);\n\tjfr_merge_samples(reader);",
           "r = read_events(reader, readers, reader->events);", RECORDING),
    Mutant("output: samples of all events for one", EACH_SAMPLE,
           "return !reader->options->event || !strcmp(reader->options->event, name);", "return true;", RECORDING),
    Mutant("output: kernel time is user time", EVENTS, "*at++ = s->state == STATE_RUNNING_KERNEL;\n\treturn at;", "*at++ = 0;\n\treturn at;", RECORDING),
    Mutant("output: weight and count swapped in the file", EVENTS,
           "at = jfr_varint(at, s->weight);\n\tat = jfr_varint(at, s->count);",
           "at = jfr_varint(at, s->count);\n\tat = jfr_varint(at, s->weight);", RECORDING),
    Mutant("output: lost samples not written", EVENTS, "jfr_put_varint(out, q->lost);", "jfr_put_varint(out, 0);", RECORDING),
    Mutant("output: lost weight not written", EVENTS, "jfr_put_varint(out, q->lost_weight);", "jfr_put_varint(out, 0);", RECORDING),
    Mutant("output: complete samples for samples", EVENTS, "jfr_put_varint(out, q->complete);", "jfr_put_varint(out, q->samples);",
           RECORDING),
    Mutant("output: a thread's Java id is its tid", MODEL, ".java_tid = (uint32_t)v->number[3],",
           ".java_tid = (uint32_t)v->number[1],", RECORDING),
    Mutant("output: a frame's line is its bytecode index", MODEL, ".line = (int32_t)v->number[5],",
           ".line = (int32_t)v->number[6],", RECORDING),
    Mutant("output: every frame native", MODEL, "jfr_keymap_get(&reader->pools[JFR_POOL_KIND], v->number[7], FRAME_NATIVE)",
           "FRAME_NATIVE", RECORDING),
    Mutant("html: pruning loses weight", COLUMNS, "pk->rest_weight[kept[i]] += node->self;",
           "pk->rest_weight[kept[i]] = node->self;", HTML),
    Mutant("html: pruning loses samples", COLUMNS, "pk->rest_samples[kept[i]] += node->self_samples;", ";", HTML),
    Mutant("html: pruning loses objects", COLUMNS, "pk->rest_objects[kept[i]] += node->self_objects;", ";", HTML),
    Mutant("tree: objects of equal stacks are the first one's", "userspace/output/calltree.c",
           "leaf->self_objects += key->objects;", "leaf->self_objects = key->objects;", ["test_calltree"]),
    Mutant("tree: objects of one stack are the first thread's", "userspace/output/calltree_keys.c",
           "have->objects += key->objects;", ";", ["test_calltree"]),
    Mutant("html: what is pruned goes to the root", COLUMNS, "kept[i] = is_kept(pk, i) ? (uint32_t)i : kept[node->parent];",
           "kept[i] = is_kept(pk, i) ? (uint32_t)i : 0;", HTML),
    Mutant("html: what is pruned is not shown", COLUMNS, "if (!pk->rest_weight || !pk->rest_weight[i])", "if (1)", HTML),
    Mutant("the class stays in the stack", "userspace/recording/write_checkpoint.c",
           "jfr_class_frame(from->p, id) != PROFILE_NONE;", "0;", RECORDING),
    Mutant("allocations counted twice", "userspace/recording/read_events.c", "event_infos[i].tlab && no_tlabs", "0",
           ["test_recording_objects"]),
    Mutant("objects of a TLAB are one", "userspace/recording/read_events.c", "size && size < s->weight ?", "0 ?",
           ["test_recording_objects"]),
    Mutant("pprof: samples for objects", "userspace/output/pprof/view_pprof.c", "w->has_objects[s->event] ? s->objects : s->count",
           "s->count", ["test_view_pprof"]),
    Mutant("text: samples of bytes", "userspace/output/text/view_text.c", "!strcmp(unit, \"bytes\") || ", "",
           ["test_view_text"]),
    Mutant("html: every width is wide enough", COLUMNS, "calltree_least(tree, columns->min_percent)", "0UL", HTML),
    Mutant("html: one period for samples of many", COLUMNS, "if (s->event == event && s->weight != s->count * period)\n\t\t\treturn 0;",
           "", HTML),
    Mutant("html: a module of another frame with the same name", COLUMNS, "if (!*slot || pk->modules[node->label] != module) {",
           "if (!*slot) {", HTML),
    Mutant("tree: a leaf's weight in place of the sum", TREE, "leaf->self += key->weight;", "leaf->self = key->weight;",
           ["test_calltree"]),
    Mutant("tree: totals without the node's own", TREE, "node->total += node->self;", ";", ["test_calltree"]),
    Mutant("pprof: names stay long", PPROF, "w->tables.names = options->names;", "", ["test_view_pprof"]),
    Mutant("pprof: inlined frames are calls of their own", PPROF, "if (i + 1 < stack.len && is_inlined(w->p, stack.frames[i]))",
           "if (0)", ["test_view_pprof"]),
    Mutant("pprof: a value stays for the next sample", PPROF, "w->values.items[first] = w->values.items[first + 1] = 0;", ";",
           ["test_view_pprof"]),
    Mutant("pprof: weight for samples", PPROF, "? s->objects : s->count;", "? s->objects : s->weight;",
           ["test_view_pprof"]),
    Mutant("svg: tiers of a method side by side", SVG, "svg_kind_is_java(label->kind) ? 0 : label->kind + 1", "label->kind + 1",
           ["test_svg_layout"]),
    Mutant("svg: boxes of one name, one weight", SVG, "box.total += node->total;", "box.total = node->total;",
           ["test_svg_layout"]),
    Mutant("svg: hidden weight not stated", SVG, "layout->hidden_weight += box->total;", ";", ["test_svg_layout", "test_view_svg"]),
    Mutant("output: names are read backwards", "userspace/base/strbuf.c", "} else if (utf8_is_direction(sb->buf + i, sb->len - i)) {", "} else if (0) {",
           ["test_strbuf"]),
]
