# SPDX-License-Identifier: Apache-2.0
"""Runs inside gdb: the frames of a core file of a JVM, on descriptor $ANSWERS. Native frames are gdb's own;
where a frame is one of the Java frames that it was told, the caller is as told. Questions: "java SP BEGIN
END CALLER_PC CALLER_SP CALLER_FP" with its code's bounds, as many as there are, then "walk CORE". Answers: "pc PC SP", "end"."""
import os

import gdb
import gdb.unwinder

answers = os.fdopen(int(os.environ['ANSWERS']), 'w')
callers = {}
MOST = 400


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class JavaUnwinder(gdb.unwinder.Unwinder):
    def __init__(self):
        super().__init__('java')

    def __call__(self, pending):
        pc, sp = (int(pending.read_register(r)) & (2**64 - 1) for r in ('rip', 'rsp'))
        begin, end, *caller = callers.get(sp, (0, 0))
        if not begin <= pc < end:
            return None
        word = gdb.lookup_type('long')
        info = pending.create_unwind_info(FrameId(gdb.Value(sp), gdb.Value(pc)))
        for name, value in zip(('rip', 'rsp', 'rbp'), caller):
            info.add_saved_register(name, gdb.Value(value - 2**64 if value >> 63 else value).cast(word))
        return info


def walk(core):
    try:
        gdb.execute('core-file ' + core, to_string=True)
        frame, count = gdb.newest_frame(), 0
        while frame is not None and count < MOST:
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                sp = int(frame.read_register('rsp')) & (2**64 - 1)
                answers.write('pc %#x %#x\n' % (frame.pc(), sp))
                count += 1
            frame = frame.older()
    except gdb.error as error:
        answers.write('error %s\n' % str(error).replace('\n', ' '))
    answers.write('end\n')
    answers.flush()


for setting in ('confirm off', 'pagination off', 'backtrace past-main on', 'backtrace past-entry on',
                'backtrace limit 4000', 'debuginfod enabled off', 'width 0'):
    try:
        gdb.execute('set ' + setting, to_string=True)
    except gdb.error:
        pass
gdb.unwinder.register_unwinder(None, JavaUnwinder(), True)

with os.fdopen(os.dup(0)) as questions:
    for line in iter(questions.readline, ''):
        words = line.split()
        if words[0] == 'java':
            sp, *rest = (int(word, 0) for word in words[1:])
            callers[sp] = rest
        elif words[0] == 'walk':
            walk(words[1])
            callers.clear()
