# SPDX-License-Identifier: Apache-2.0
"""Of a run: the order of records, processes, chunks, agents, what is counted."""
from .mutant import Mutant

PIPELINE = "userspace/session/pipeline.c"
APPLY = "userspace/session/pipeline_apply.c"
ARRIVE = "userspace/session/pipeline_arrive.c"
BOOKS = "userspace/session/pipeline_books.c"
MERGE = "userspace/session/merge.c"
LEDGER = "userspace/session/figures/ledger.c"
RECORDER = "userspace/session/recorder.c"
SHOW = "userspace/session/pipeline_show.c"
DRIVE = "userspace/cmd/drive/drive.c"
NEWS = "userspace/process/news.c"
WRITER = "userspace/recording/write.c"
LIVE = "userspace/process/live_processes.c"
ARRIVAL = "userspace/symbolize/symbolizer_arrive.c"
SYMBOLIZER = "userspace/symbolize/symbolizer.c"

JOIN = "userspace/unwind/miss_join.c"
UNWINDER = "userspace/unwind/unwinder.c"
SPACES = "userspace/unwind/unwind_spaces.c"

RUN = ["test_pipeline", "test_pipeline_losses", "test_pipeline_chunks"]
CALLS = ["test_pipeline_calls", "test_pipeline_walks", "test_pipeline_jvms"]
REQUEST = ["test_unwinder_request"]
ENDS = ["test_recorder"]
DRIVEN = ["test_drive"]
SHOWING = ["test_pipeline_show"]
JAVA = ["test_symbolize_java"]
REST_OF = "userspace/unwind/stack_rest.c"
ABOVE = ["test_stack_rest"]

ORDER = [
    Mutant("nothing is held back", PIPELINE, "#define HOLD_NS (300 * NSEC_PER_MSEC)", "#define HOLD_NS 0ULL", RUN),
    Mutant("held back too short", PIPELINE, "#define HOLD_NS (300 * NSEC_PER_MSEC)",
           "#define HOLD_NS (30 * NSEC_PER_MSEC)", RUN),
    Mutant("memory is looked at for ever later", "userspace/session/memory_plan.c", "guard->room_bytes * EIGHTH_NS / eighth", "eighth * 7 * EIGHTH_NS / eighth",
           ["test_memory_guard"]),
    Mutant("a turn is for all that is left", "userspace/session/pipeline_apply.c", "clock_now_ns() + TURN_NS);", "UINT64_MAX);", ["test_pipeline_walks"]),
    Mutant("beyond the limit what is held back stays", "userspace/session/pipeline.c", "				: 0;", "				: pipeline->queue.bytes;", ["test_pipeline_walks"]),
    Mutant("a full queue waits for ever", "userspace/session/pipeline_apply.c", "return holds_more(pipeline, 0);", "return false;", ["test_pipeline_walks"]),
    Mutant("a full queue holds copies of stacks", "userspace/session/pipeline_arrive.c", "if (!*miss || !pipeline_queue_overflows(pipeline))", "if (1)", ["test_pipeline_walks"]),
    Mutant("what waits for its thread is not held back", "userspace/session/pipeline_apply.c", "return pipeline->queue.bytes + pipeline->spans.bytes;", "return pipeline->queue.bytes;", ["test_pipeline_walks"]),
    Mutant("an overflow is taken from the rings", "userspace/session/pipeline_arrive.c", "if (!pipeline_queue_overflows(pipeline)) {", "if (1) {", ["test_pipeline_walks"]),
    Mutant("an overflow of the share alone leaves the rings", "userspace/session/pipeline_apply.c", "return holds_more(pipeline, pipeline->plan.queue_bytes);", "return holds_more(pipeline, 0);", ["test_pipeline_walks"]),
    Mutant("room is not looked at", PIPELINE, "if (pipeline->guard.looked_ns == now_ns)", "if (0)", ["test_pipeline_walks"]),
    Mutant("all of the room is the queue's", PIPELINE, "pipeline->guard.room_bytes * 3 / 4", "pipeline->guard.room_bytes", ["test_pipeline_walks"]),
    Mutant("a page of code asks for its file for ever", "userspace/symbolize/process_files.c", "lru_put(&cache->pages, page, 0, 0);", "", ["test_symbolize_parts"]),
    Mutant("files of a process are looked at one by one", "userspace/symbolize/process_files.c", "return unseen >= FEW_LOOKS;", "return 0;", ["test_process_files"]),
    Mutant("files that a process has are looked at again", "userspace/symbolize/process_files.c", "!mapping_has_image(cache, m)", "cache", ["test_process_files"]),
    Mutant("files that are known are looked at", "userspace/symbolize/process_files.c", "unseen += !image_cache_has_seen(", "unseen += 1 || image_cache_has_seen(", ["test_process_files"]),
    Mutant("another mapping's file is believed", "userspace/symbolize/process_files.c", "m->key.inode == map->m.key.inode)", "1)", ["test_process_files"]),
    Mutant("files are not read before their turn", "userspace/symbolize/process_files.c", "if (image && image_state(image) == IMAGE_NEW)", "if (0)", ["test_symbolize_parts"]),
    Mutant("the newest record first", MERGE, "return a->time_ns < b->time_ns;", "return a->time_ns > b->time_ns;",
           ["test_merge"]),
    Mutant("a sample before the mapping of its moment", MERGE, "item->side ? 0 : ORDER_OF_SAMPLES",
           "item->side ? ORDER_OF_SAMPLES : 0", RUN),
    Mutant("late samples are not counted", ARRIVE, "if (place_ns < pipeline->applied_ns)", "if (0)", RUN),
    Mutant("everything counts as late", ARRIVE, "if (place_ns < pipeline->applied_ns)",
           "if (place_ns <= pipeline->applied_ns)", RUN),
]

PROCESSES = [
    Mutant("accounts of the gone are kept", BOOKS, ".forget = forget_account", "", RUN + CALLS),
    Mutant("accounts are nobody's", LEDGER, "attach(ledger, entry, process);\n\tif", "if", RUN + CALLS + ["test_ledger"]),
    Mutant("a process has two accounts", LEDGER, "ledger_forget(ledger, process);\n\tbook_attach", "book_attach",
           ["test_ledger"]),
    Mutant("an account stays with the last process", LEDGER, "if (entry->process)\n\t\tdetach(ledger, entry);", "",
           ["test_ledger"]),
    Mutant("accounts without samples are kept for ever", LEDGER, "entry->is_new = false;\n\t\tentry->profile_id",
           "entry->profile_id", ["test_ledger"]),
    Mutant("files of anybody are looked at", BOOKS, "return !options->pid_count || options->follow_children || is_named(options, pid);", "return true;", ["test_pipeline_looks"]),
    Mutant("files of the first target alone are looked at", BOOKS, "if (options->pids[i] == pid)", "if (options->pids[0] == pid)", ["test_pipeline_looks"]),
    Mutant("files of a target's children are not looked at", BOOKS, "return !options->pid_count || options->follow_children || is_named(options, pid);",
           "return !options->pid_count || is_named(options, pid);", ["test_pipeline_looks"]),
    Mutant("the rings are not waited for", "userspace/session/recorder.c", "return r < 0 ? r : capture_wait(rec->capture, err);", "return r;", ["test_recorder"]),
    Mutant("a command is in a hurry, too", DRIVE, "if (!command)\n\t\tpriority_raise();", "priority_raise();", ["test_drive"]),
    Mutant("it is checked first what may be recorded", "userspace/cmd/cmd_record.c", "\tdrive_hurry(run->args->command);\n", "", ["test_cmd_record"]),
    Mutant("books keep the program before an exec", BOOKS, "if (process)\n\t\tpipeline_books_forget(process, pipeline);", "",
           CALLS),
    Mutant("records go to no book before their time", BOOKS, "books[i].now[event->kind](pipeline, event);", ";", CALLS),
    Mutant("a thread's exit ends its process", BOOKS, "if (event->pid == event->tid)\n\t\tregistry_exit",
           "registry_exit", RUN),
    Mutant("no exit is noted", BOOKS, "registry_exit(pipeline->registry, event->time_ns, event->pid);", ";", RUN),
    Mutant("a fork is not applied", BOOKS,
           "registry_fork(pipeline->registry, event->time_ns, event->pid, event->ppid);", ";", RUN),
    Mutant("an exec keeps the old program", BOOKS,
           "registry_exec(pipeline->registry, event->time_ns, event->pid, event->name);", ";", RUN),
    Mutant("a comm is not applied", BOOKS, "registry_comm(pipeline->registry, event->pid, event->tid,",
           "if (0) registry_comm(pipeline->registry, event->pid, event->tid,", RUN),
    Mutant("a mapping ends where it begins", BOOKS, ".end = event->addr + event->len,", ".end = event->addr + 1,",
           RUN),
    Mutant("the gone are forgotten at once", PIPELINE, "#define EXPIRE_NS (2 * NSEC_PER_SEC)",
           "#define EXPIRE_NS 0ULL", RUN),
    Mutant("side-band losses ignored", BOOKS, "registry_note_loss(pipeline->registry);", "", RUN),
    Mutant("side-band losses not counted", BOOKS,
           'profile_add_counter(&pipeline->profile, "sideband.lost", "", event->lost);', "", RUN),
    Mutant("processes are never checked against /proc", PIPELINE,
           "registry_check(pipeline->registry, now_ns);", "", RUN),
]

FIGURES = [
    Mutant("a sample weighs one", APPLY, ".weight = sample->weight,", ".weight = 1,", RUN),
    Mutant("every sample is of the first event", APPLY, ".event = pipeline->event_ids[sample->event],",
           ".event = pipeline->event_ids[0],", RUN),
    Mutant("user and kernel mixed up", APPLY, "wait_state(sample->state, sample->in_user)",
           "wait_state(sample->state, !sample->in_user)", RUN),
    Mutant("a thread by its process's number", LEDGER, "ledger_profile_thread(entry, profile, sample->tid, symbolized)",
           "ledger_profile_thread(entry, profile, sample->tgid, symbolized)", RUN),
    Mutant("a thread by its process's name", LEDGER, ".name = symbolized->thread_name,", ".name = profile_string(profile, entry->name),", RUN),
    Mutant("an exec is no new process in the ledger", LEDGER,
           "sample->tgid, sample->exec_id, sample->start_ns,", "sample->tgid, 0, sample->start_ns,", RUN),
    Mutant("lost samples without their weight", LEDGER,
           "entry->counts[event].lost_weight += loss->weight;", "", RUN),
    Mutant("lost samples not counted", LEDGER, "entry->counts[event].lost += loss->count;", "", RUN),
    Mutant("lost samples of no reason", LEDGER, "ledger->losses[why].count += loss->count;", "", RUN + ["test_ledger"]),
    Mutant("lost samples of one reason", LEDGER, "ledger->losses[why].weight += loss->weight;",
           "ledger->losses[0].weight += loss->weight;", ["test_ledger"]),
    Mutant("records that fail their check are not lost", ARRIVE,
           "ledger_count_lost(&pipeline->ledger, entry, header.event, WIRE_LOSS_INVALID, &loss);", "", RUN),
    Mutant("samples of unknown processes are not in the sum", RECORDER,
           "result->capture.counters[WIRE_COUNTER_LOST_UNKNOWN];", "0;", ["test_recorder"]),
    Mutant("sampling began when it ended", RECORDER, ".start_ns = rec->start_ns,",
           ".start_ns = clock_now_ns(),", ["test_recorder"]),
    Mutant("nobody is told when sampling began", "userspace/cmd/record_stats.c",
           'json_u64(j, "start_ns", result->start_ns);', "", ["test_record_stats"]),
    Mutant("the last line keeps late samples to itself", "userspace/cmd/record_stats.c", "if (result->late_samples)", "if (0)",
           ["test_record_stats"]),
    Mutant("the last line keeps other losses to itself", "userspace/cmd/record_stats.c",
           "add_losses(line, result);\n\tif", "if", ["test_record_stats"]),
    Mutant("lost samples are of the first event", LEDGER, "entry->counts[event].lost += loss->count;",
           "entry->counts[0].lost += loss->count;", RUN),
    Mutant("losses of the last second forgotten", PIPELINE,
           "capture_take_lost(pipeline->capture, count_lost, pipeline);\n\tjvm_table_release_leases",
           "jvm_table_release_leases", RUN),
    Mutant("every stack counts as whole", LEDGER, '{ "unwind." id, whole },', '{ "unwind." id, true },', RUN),
    Mutant("weights of a process not added up", LEDGER, "count->weight += sample->weight;",
           "count->weight = sample->weight;", RUN),
    Mutant("the recording's start is that of its last chunk", PIPELINE,
           "fresh.start_ns = profile->start_ns;", "fresh.start_ns = clock_now_ns();", RUN),
]

CHUNKS = [
    Mutant("a new chunk keeps the symbolizer's ids", PIPELINE,
           "symbolizer_reset_ids(pipeline->symbolizer);", "", RUN),
    Mutant("a new chunk keeps the ledger's ids", PIPELINE,
           "ledger_reset_ids(&pipeline->ledger);", "", RUN),
    Mutant("a new chunk does not know the events", PIPELINE, "*profile = fresh;\n\tadd_events(pipeline);",
           "*profile = fresh;", RUN),
    Mutant("a chunk's quality is not written", PIPELINE,
           "ledger_write(&pipeline->ledger, profile, pipeline->event_ids,\n\t\t     pipeline->options->event_count);\n\tr =",
           "r =", RUN),
    Mutant("quality written again in each chunk", LEDGER, "memset(entry->counts, 0, sizeof(entry->counts));", "",
           RUN),
    Mutant("the living leave the ledger", LEDGER, "if (!entry->process && !entry->is_new) {", "{", RUN),
    Mutant("counters of the first chunk lost", PIPELINE,
           "for (size_t i = 0; i < profile->counters.len; i++)", "for (size_t i = 0; i < 0; i++)", RUN),
    Mutant("chunks never end", WRITER, "writer->end_ns - chunk->start_ns >= writer->chunk_limit_ns", "0", RUN),
    Mutant("chunks grow without a limit", WRITER,
           "return bytes >= writer->chunk_limit_bytes ||", "return", RUN),
    Mutant("a limit of chunks is not passed on", "userspace/cmd/cmd_record.c",
           "recording_writer_limit_chunks(writer, run->args->chunk_bytes, run->args->chunk_ns);", ";",
           ["test_cmd_record"]),
]

ARRIVING = [
    Mutant("a sample takes a miss that it has not", ARRIVE, "resumed ? miss_join_take(&pipeline->misses, raw) : NULL);",
           "miss_join_take(&pipeline->misses, raw));", ["test_pipeline_walks"]),
    Mutant("each sample tells that mappings are others", ARRIVE, "if (raw->flags & WIRE_SAMPLE_STALE)", "", ["test_pipeline_walks"]),
    Mutant("a file is opened when it may be gone", BOOKS, "[SIDE_MMAP] = open_file", "", CALLS),
    Mutant("names are read when code may be gone", ARRIVE, "if (symbolizer_arrive(pipeline->symbolizer, process, sample))",
           "if (0)", CALLS),
    Mutant("names of young JVMs are not read", ARRIVE, "symbolizer_read_names(jvm, sample);", ";", CALLS),
    Mutant("a JVM is looked for behind every sample", ARRIVAL, "return !sample_words_need_names(sample);", "return false;", JAVA),
    Mutant("names of a known JVM are not read", ARRIVAL, "read_new_names(cache, jvm, sample, &kernel, &user, &fresh);", ";", JAVA),
    Mutant("nobody is told of a JVM that is not known", ARRIVAL, "return jvm != NULL;", "return true;", JAVA),
    Mutant("a JVM's samples are its agent's news each time", LEDGER, "(jvm && !entry->is_jvm)", "jvm", ["test_ledger"]),
    Mutant("a process that becomes a JVM is none", LEDGER, "|| (jvm && !entry->is_jvm)", "", ["test_ledger"]),
    Mutant("an exec does not stop walks of the old program", BOOKS, "[SIDE_EXEC] = keep_walks", "", CALLS),
    Mutant("the unwinder does not hear of execs", BOOKS, "[SIDE_EXEC] = unwinder_execs,", "", CALLS),
    Mutant("a thread's exit is its process's for the unwinder", BOOKS,
           "if (event->pid == event->tid)\n\t\tunwinder", "unwinder", CALLS),
    Mutant("walks are not tried again", ARRIVE, "merge_walk_again(&pipeline->queue, walk_again, pipeline);", ";", CALLS),
    Mutant("a late walk is left unfinished", APPLY, "if (item->miss && !finish_oldest(pipeline, item, process))", "if (0)",
           CALLS),
    Mutant("samples do not wait for their files", APPLY,
           "\t\tif (has_patience(pipeline)) {", "\t\tif (0) {", CALLS),
    Mutant("samples do not wait for agents", PIPELINE, "else if (agents_busy(pipeline->agents))\n\t\treturn;", "", CALLS),
    Mutant("agents of all JVMs are targets'", "userspace/session/pipeline_outside.c", "if (is_target(pipeline, process)) {", "if (1) {", CALLS),
    Mutant("a JVM's threads have the kernel's names", SYMBOLIZER,
           "name = jvm_thread_name(jvm, sample->tid, sample->time_ns, &java_tid);", ";", JAVA),
    Mutant("names of threads as of now", SYMBOLIZER, "sample->tid, sample->time_ns, &java_tid);", "sample->tid, 2000000000, &java_tid);", JAVA),
    Mutant("nobody forgets a process's names", BOOKS, ".forget = forget_names", "", CALLS),
    Mutant("a miss of another moment", JOIN, "miss->time_ns == sample->time_ns && miss->tid", "miss->tid", CALLS),
    Mutant("a miss of another thread", JOIN, "miss->tid == sample->tid &&", "", CALLS + ["test_miss_join"]),
    Mutant("the last samples are left out", PIPELINE, "while (clock_now_ns() < end_ns + HOLD_NS ||", "while (", CALLS),
]

WALKS = [
    Mutant("the JVM's note of its last frame is lost", UNWINDER,
           "memcpy(request.anchor, miss->anchor, sizeof(request.anchor));", "", REQUEST),
    Mutant("a caller is taken for a leaf", UNWINDER, ".caller = !miss->leaf,", ".caller = false,", REQUEST),
    Mutant("a leaf's registers for all callers", UNWINDER, ".regs_kept = miss->regs_kept,", ".regs_kept = true,",
           REQUEST),
    Mutant("what BPF walked is left out", UNWINDER, "result->word_count = sample->user_words;", "result->word_count = 0;",
           REQUEST),
    Mutant("kernel frames are left out", UNWINDER, "memcpy(sample, from, sizeof(*sample) + kernel_bytes);",
           "memcpy(sample, from, sizeof(*sample));", REQUEST),
    Mutant("a finished walk ends as it was", UNWINDER, "sample->reason = (uint8_t)result->reason;", "", REQUEST),
    Mutant("a pid's last owner is walked in the next", SPACES, "if (stat.start_ns > sample->time_ns)", "if (0)",
           REQUEST),
    Mutant("an exec is forgotten at once", LIVE,
           "if (now_ns > all.items[i]->exec_ns && now_ns", "if (now_ns", REQUEST),
    Mutant("samples of before an exec read the next program", LIVE, "process->exec_ns > time_ns;", "0;", ["test_live_processes"]),
    Mutant("an exec is remembered past the exit", LIVE, "process->exec_ns = 0;\n\tdrop", "drop", ["test_live_processes"]),
    Mutant("pids stay for ever", LIVE, "drop_if_empty(live, all.items[i]);", "", ["test_live_processes"]),
    Mutant("what is attached goes with the pid", LIVE, "if (process->exec_ns || process->attached.first)",
           "if (process->exec_ns)", ["test_live_processes"]),
    Mutant("mappings of the last process", UNWINDER, "if (unwinder->late_serial == process->serial &&", "if (", REQUEST),
]

REST = [
    Mutant("a stack that is another goes on", REST_OF, "memcmp(now, miss->copy + (address - miss->copy_at), len) == 0;",
           "1;", ABOVE),
    Mutant("the call below may be another", REST_OF, "!is_same_call(miss, sp) ||", "", ABOVE),
    Mutant("a thread that ended leaves its stack", REST_OF,
           "||\n\t    !proc_has_thread(miss->tgid, miss->tid))", ")", ABOVE),
    Mutant("words of the last walk's stack", REST_OF, "rest->tried = false;\n\trest->len = 0;", "", ABOVE),
    Mutant("bytes that are made up are the stack's", REST_OF, "!has_hole(miss, address, len) &&", "", ABOVE),
]

RUNS = [
    Mutant("a command's children are no targets", DRIVE, "capture->follow_children = true;", "", DRIVEN),
    Mutant("a command is not the target", DRIVE, "capture->pid_count = 1;", "", DRIVEN),
    Mutant("a command alone instead of the host", DRIVE, "if (r < 0 || drive->options->whole_host)", "if (r < 0)", DRIVEN),
    Mutant("what the rings hold at the end is lost", RECORDER,
           "r = pipeline_finish(&rec->pipeline, err);", "r = 0;", ENDS),
    Mutant("it records on while it finishes", RECORDER, "capture_stop(rec->capture);", "", ENDS),
    Mutant("it stays on the loop of its caller", RECORDER,
           "capture_stop(rec->capture);\n\tloop_forget(rec->loop, rec);", "capture_stop(rec->capture);", ENDS),
    Mutant("nobody is hurried", RECORDER, "if (rec->options->sinks.hurry &&", "if (0 &&", ENDS),
    Mutant("a sink that fails is not heard", RECORDER, "if (r < 0)\n\t\tloop_quit(rec->loop);", "(void)r;", ENDS),
    Mutant("what is forgotten is called in its round", "userspace/base/loop.c", "if (source->past)\n\t\treturn;", "",
           ["test_loop"]),
    Mutant("a command ignores broken pipes", DRIVE, "int r = loop_new(&drive->loop, err);",
           "int r = loop_new(&drive->loop, err);\n\n\tsignal(SIGPIPE, SIG_IGN);", DRIVEN),
    Mutant("broken pipes stay ignored", DRIVE, "signal(SIGPIPE, drive.old_sigpipe);", ";", DRIVEN),
    Mutant("a broken pipe ends a recording", DRIVE, "drive->old_sigpipe = signal(SIGPIPE, SIG_IGN);", "", DRIVEN),
    Mutant("lost samples are not in the figures", RECORDER, "result->lost = ledger_lost(&pipeline->ledger) +", "result->lost =", ENDS),
    Mutant("complete is all", RECORDER, "result->complete = pipeline->ledger.complete;",
           "result->complete = pipeline->ledger.samples;", ENDS),
    Mutant("agents are always loaded", RECORDER, ".attach = agent == RECORDER_AGENT_ALWAYS ||", ".attach = true ||", ENDS),
]

SHOWN = [
    Mutant("the same is corrected", SHOW, "return SINK_SAME;", "return SINK_CORRECTED;", SHOWING),
    Mutant("another stack is the same", SHOW, "shown->stack == stack &&", "", SHOWING),
    Mutant("another name is the same", SHOW, "&& shown->thread_name == thread_name", "", SHOWING),
    Mutant("numbers of emptied tables are compared", SHOW, "shown->tables_serial == pipeline->tables_serial &&", "",
           SHOWING),
    Mutant("emptied tables are the old ones", PIPELINE, "pipeline->tables_serial++;", "", SHOWING),
    Mutant("names of the program before an exec", SHOW, "\t\tprocess = NULL;", "\t\t;", SHOWING),
    Mutant("a fork is no news", SHOW, "told.life != SINK_EXITED)", "told.life == SINK_EXECED)", SHOWING),
    Mutant("a thread that ends is a process's end", SHOW,
           "event->kind == SIDE_EXIT && event->pid == event->tid", "event->kind == SIDE_EXIT", SHOWING),
    Mutant("a new thread is a new process", SHOW,
           "event->kind == SIDE_FORK && event->pid != event->ppid", "event->kind == SIDE_FORK", SHOWING),
    Mutant("early names where nobody asks", ARRIVE, "if (pipeline->sinks.hurry && may_be_shown", "if (may_be_shown", SHOWING),
    Mutant("the kernel's losses are not told", PIPELINE,
           "pipeline_show_loss(pipeline, key->tgid, key->event, key->why, &loss);", "", SHOWING),
    Mutant("what is invalid is not told", ARRIVE,
           "pipeline_show_loss(pipeline, entry ? header.tgid : 0,", "if (0) pipeline_show_loss(pipeline, entry ? header.tgid : 0,",
           SHOWING),
    Mutant("losses of unknown processes are not in the sum", SHOW, "+ stats.counters[WIRE_COUNTER_LOST_UNKNOWN];",
           ";", SHOWING),
    Mutant("what was shown is forgotten", ARRIVE, "->shown = shown;", ";", SHOWING),
    Mutant("what was shown is another sample's", MERGE, "queue->heap.items[at] = slot;\n\treturn item;", "queue->heap.items[at] = slot;\n\treturn queue->heap.items[0].item;",
           SHOWING),
    Mutant("news is old at once", NEWS, "if (news->older_newest_ns <= applied_ns) {", "{", ["test_news"]),
    Mutant("news is never old", NEWS, "if (news->older_newest_ns <= applied_ns) {", "if (0) {", ["test_news"]),
    Mutant("news for samples before it", NEWS, "&& news_ns <= time_ns", "", ["test_news"]),
    Mutant("news that is applied", NEWS, "news_ns > applied_ns &&", "", ["test_news"]),
]

CALM = [
    Mutant("turns: a busy host has as few as a calm one", RECORDER, "pipeline_is_calm(&rec->pipeline) ? CALM_TURN_NS : TURN_NS", "CALM_TURN_NS", ["test_recorder_loop"]),
    Mutant("turns: so has one that is in a hurry", RECORDER, "if (rec->options->sinks.hurry)\n\t\treturn HURRIED_TURN_NS;", "", ["test_recorder_loop"]),
    Mutant("turns: a calm host has as many as a busy one", RECORDER, "loop_set_timer(rec->loop, period_ns, on_turn, rec);", "", ["test_recorder_loop"]),
    Mutant("turns: what came between them is no sign of more", PIPELINE, "pipeline_take_records(pipeline);\n\tnote_rate(pipeline, now_ns);", "pipeline->turned_arrived = pipeline->arrived;\n\tpipeline_take_records(pipeline);\n\tnote_rate(pipeline, now_ns);", ["test_pipeline_calm"]),
    Mutant("turns: so much in a turn, however long it was", PIPELINE, "CALM_RECORDS_PER_SECOND * took_ns", "CALM_RECORDS_PER_SECOND * 50 * NSEC_PER_MSEC", ["test_pipeline_calm"]),
    Mutant("loop: all timers of who asks are set", "userspace/base/loop.c", "(*s)->fn == fn && (*s)->data == data", "(*s)->fn == fn", ["test_loop"]),
    Mutant("loop: all functions of who asks are set", "userspace/base/loop.c", "(*s)->fn == fn && (*s)->data == data", "(*s)->data == data", ["test_loop"]),
    Mutant("resident: the file of another process is believed", "userspace/base/budget/resident.c", "watch->is_open && watch->pid == pid && read_statm", "watch->is_open && read_statm", ["test_resident"]),
    Mutant("resident: each look opens a file", "userspace/base/budget/resident.c", "watch->is_open && watch->pid == pid && read_statm(watch->fd, &resident)", "0", ["test_resident"]),
    Mutant("turns: any number is next to nothing", PIPELINE, "pipeline->few_arrive &&", "", ["test_pipeline_calm"]),
    Mutant("turns: while agents are loaded nothing hurries", PIPELINE, "!agents_busy(pipeline->agents) &&", "", ["test_pipeline_calm"]),
    Mutant("turns: while files are parsed nothing hurries", PIPELINE, "!worker_pool_is_busy(pipeline->pool) &&", "", ["test_pipeline_calm"]),
    Mutant("workers: what is not reaped is no more", "userspace/base/worker.c", "busy = pool->unfinished || pool->finished.first;", "busy = pool->unfinished;", ["test_worker"]),
    Mutant("workers: what runs is no job", "userspace/base/worker.c", "busy = pool->unfinished || pool->finished.first;", "busy = pool->finished.first;", ["test_worker"]),
]

MUTANTS = CALM + SHOWN + ARRIVING + WALKS + REST + RUNS + ORDER + PROCESSES + FIGURES + CHUNKS
