# SPDX-License-Identifier: Apache-2.0
"""Of sinks: who is called, what a stream tells and when, readers that are slow or leave."""
from .mutant import Mutant

SINKS = "userspace/profile/sink.c"
BUFFER = "userspace/sink/stream_buffer.c"
LINE = "userspace/sink/stream_line.c"
STREAM = "userspace/sink/stream_sink.c"
TITLE = "userspace/profile/title.c"
COMMAND = "userspace/cmd/cmd_stream.c"
RECORD = "userspace/cmd/cmd_record.c"
BESIDE = "userspace/cmd/record_stream.c"

CALLED = ["test_sink"]
LINES = ["test_stream_line"]
TOLD = ["test_stream_sink"]
SLOW = ["test_stream_buffer"]

MUTANTS = [
    Mutant("an error of a sink is passed over", SINKS, "\t\t\tif (r < 0)", "\t\t\tif (0)", CALLED),
    Mutant("only the first may want a rotation", SINKS,
           "if (sink->ops->wants_rotation && sink->ops->wants_rotation(sink->self, profile))\n\t\t\treturn true;",
           "return sink->ops->wants_rotation && sink->ops->wants_rotation(sink->self, profile);", CALLED),
    Mutant("a torn line", BUFFER, "waiting(buffer) + len <= buffer->limit", "waiting(buffer) <= buffer->limit", SLOW),
    Mutant("lines between lost ones", BUFFER, "return !buffer->is_losing && ", "return ", SLOW),
    Mutant("lost lines are not counted", BUFFER, "buffer->lost[kind]++;", "", SLOW),
    Mutant("lost lines are counted twice", BUFFER, "buffer->lost[i] = 0;", "", SLOW),
    Mutant("room for one line is room", BUFFER, "waiting(buffer) <= buffer->limit / 2", "waiting(buffer) < buffer->limit",
           SLOW),
    Mutant("what was sent stays in memory", BUFFER, "if (!buffer->sent || rest > buffer->sent)", "if (1)", SLOW),
    Mutant("what waits is dropped", BUFFER, "buffer->text.len = rest;", "buffer->text.len = 0;", SLOW),
    Mutant("what was sent is sent again", BUFFER, "buffer->text.buf + buffer->sent, rest);", "buffer->text.buf, rest);", SLOW),
    Mutant("it waits for a reader", BUFFER, "O_WRONLY | O_NONBLOCK | O_NOCTTY", "O_WRONLY | O_NOCTTY", SLOW),
    Mutant("the descriptor of others does not wait", BUFFER, "if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) {", "if (0) {",
           SLOW),
    Mutant("a socket stays as it was made", BUFFER, "if (buffer->old_flags >= 0)", "if (0)", SLOW),
    Mutant("nobody notices that the reader has gone", BUFFER, "return has_reader(buffer) ? 0 : -EPIPE;", "return 0;", SLOW),
    Mutant("a full disk is passed over", BUFFER, "return -errno;\n\t}\n\tcompact", "break;\n\t}\n\tcompact", SLOW),
    Mutant("the end waits for ever", BUFFER, "return -ETIMEDOUT;", "continue;", SLOW),
    Mutant("frames root first", LINE, "stack.frames[i]);\n\t}\n\tjson_array_end",
           "stack.frames[stack.len - 1 - i]);\n\t}\n\tjson_array_end", LINES),
    Mutant("a frame by its old number", LINE, "hmap_release(&frames->by_id);", "return;", LINES),
    Mutant("no address where there is no name", LINE, "if (!frame->name) /* all", "if (frame->name) /* all", LINES),
    Mutant("a semicolon in a collapsed name", TITLE, "sb->buf[i] = ':';", ";", LINES),
    Mutant("a collapsed stack leaf first", LINE, "for (uint32_t i = stack.len; i-- > 0;) {",
           "for (uint32_t i = 0; i < stack.len; i++) {", LINES),
    Mutant("a thread is told of once under any name", STREAM, "hash_text(hash_bytes(key, sizeof(key)), sample->thread)",
           "hash_bytes(key, sizeof(key))", TOLD),
    Mutant("threads of the same name are one", STREAM, "{ hash_generation(sample->process), sample->tid,",
           "{ hash_generation(sample->process), 0,", TOLD),
    Mutant("a pid is a process", STREAM, "{ process->pid, process->exec_id, process->start_ns }",
           "{ process->pid, 0, 0 }", TOLD),
    Mutant("labels that come late are not told", STREAM, "announce_process(stream, sample->process, true);\n\t\treturn;",
           "return;", TOLD),
    Mutant("labels of the arrival count", STREAM, "(!is_final || stream->known", "(stream->known", TOLD),
    Mutant("main classes are not told", STREAM, "return hash_text(hash, process->main_class);", "return hash;", TOLD),
    Mutant("a lost line has told", STREAM, "if (!put_line(stream, STREAM_OTHER))\n\t\treturn number;",
           "put_line(stream, STREAM_OTHER);", TOLD),
    Mutant("a thread whose line was lost is known", STREAM, "if (put_line(stream, STREAM_OTHER))\n\t\thmap_put(&stream->threads",
           "put_line(stream, STREAM_OTHER);\n\t\thmap_put(&stream->threads", TOLD),
    Mutant("lost lines are told of when a line comes", STREAM,
           "r = stream_buffer_send(&stream->buffer);\n\t\ttell_lost_lines(stream);",
           "r = stream_buffer_send(&stream->buffer);", TOLD),
    Mutant("corrections are samples", STREAM, "put_line(stream, STREAM_CORRECTION);", "put_line(stream, STREAM_SAMPLE);", TOLD),
    Mutant("tables grow", STREAM, "bytes >= MAX_TABLE_BYTES", "0", TOLD),
    Mutant("processes grow", STREAM, "intern_len(&profile->processes) >= MAX_TABLE_PROCESSES", "0", TOLD),
    Mutant("a stream ends chunks of a recording", STREAM, "return stream->options.is_alone &&", "return", TOLD),
    Mutant("a reader that leaves ends the recording", STREAM, "if (!stream->failure || !stream->options.is_alone)",
           "if (!stream->failure)", TOLD),
    Mutant("children of targets are not told of", STREAM, "hmap_put(&stream->pids, event->pid, 1);", "", TOLD),
    Mutant("processes of others are told of", STREAM, "if (stream->whole_host)\n\t\treturn true;", "return true;", TOLD),
    Mutant("an end is told of twice", STREAM, "return hmap_remove(&stream->pids, event->pid);",
           "return hmap_get(&stream->pids, event->pid, &known);", TOLD),
    Mutant("a reader that leaves is an error", COMMAND, "if (rc == -EPIPE && stream_failure(stream) == -EPIPE)", "if (0)",
           ["test_cmd_stream"]),
    Mutant("any broken pipe is a reader that leaves", COMMAND, "&& stream_failure(stream) == -EPIPE", "",
           ["test_cmd_stream"]),
    Mutant("a stream that ends early is not told of", BESIDE, "if (failure && failure != -EPIPE)", "if (0)",
           ["test_cmd_record"]),
    Mutant("--stream is ignored", RECORD, "sinks_add(&options.recorder.sinks, offered[i]->sink);", ";",
           ["test_cmd_record"]),
    Mutant("all sums are the first event's", "userspace/sink/sums_sink.c", "if (!strcmp(row->name, name))", "if (1)",
           ["test_sums_sink"]),
    Mutant("the last samples are not in the sums", "userspace/sink/sums_sink.c", ".end = add_last,", "", ["test_sums_sink"]),
    Mutant("a chunk's samples are not in the sums", "userspace/sink/sums_sink.c", ".rotate = add_all,", "", ["test_sums_sink"]),
    Mutant("the last line has no names of events", "userspace/cmd/record_stats.c", "return sums->rows.len > 1 ||", "return 0 &&",
           ["test_record_stats"]),
    Mutant("a stream's samples have no objects", LINE, "\tif (sample->objects) {", "\tif (0) {", LINES),
    Mutant("a stream's samples have no ages", LINE, 'put_number(&j, "age", sample->age);', ";", LINES),
    Mutant("the end does not wait for its reader", STREAM, "stream->may_wait = true;", ";", TOLD),
    Mutant("a reader that has stopped is waited for at each line", STREAM, "stream_buffer_send_all(&stream->buffer, END_WAIT_NS) == 0;", "(stream_buffer_send_all(&stream->buffer, END_WAIT_NS), true);", TOLD),
    Mutant("collapsed: what lives is added to what was allocated", STREAM, " || sample->age", "", TOLD),
]
