# SPDX-License-Identifier: Apache-2.0
"""Runs inside gdb: answers on descriptor 3 what frames a core file has. Questions, a line each:
"forget" (other files follow), "file BIAS PATH", "walk CORE"."""
import os

import gdb

answers = os.fdopen(3, 'w')

for setting in ('confirm off', 'pagination off', 'backtrace past-main on', 'backtrace past-entry on',
                'backtrace limit 4000', 'debuginfod enabled off', 'auto-solib-add off', 'width 0'):
    try:
        gdb.execute('set ' + setting, to_string=True)
    except gdb.error:
        pass


def frames():
    frame = gdb.newest_frame()
    while frame is not None:
        # Inlined functions and tail calls are no frames of the stack.
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            newer = frame.newer()
            interrupted = newer is None or newer.type() == gdb.SIGTRAMP_FRAME
            answers.write('pc %#x %d\n' % (frame.pc(), interrupted))
        if frame.unwind_stop_reason() in (gdb.FRAME_UNWIND_UNAVAILABLE, gdb.FRAME_UNWIND_MEMORY_ERROR):
            answers.write('cut\n')
        frame = frame.older()


def walk(core):
    try:
        gdb.execute('core-file ' + core, to_string=True)
        frames()
    except gdb.MemoryError:
        answers.write('cut\n')
    except gdb.error as error:
        answers.write('error %s\n' % error)
    answers.write('end\n')
    answers.flush()


with os.fdopen(os.dup(0)) as questions:
    for line in iter(questions.readline, ''):
        word, _, rest = line.strip().partition(' ')
        if word == 'forget':
            gdb.execute('symbol-file', to_string=True)
        elif word == 'file':
            bias, _, path = rest.partition(' ')
            try:
                gdb.execute('add-symbol-file %s -o %s' % (path, bias), to_string=True)
            except gdb.error as error:
                answers.write('error %s\n' % error)
        elif word == 'walk':
            walk(rest)
