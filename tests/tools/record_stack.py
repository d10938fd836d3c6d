#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Record stacks for tests/unit/bpf/test_unwind.c: registers, the memory that an unwinder reads, and
the frames that gdb gives for them.

    record_stack.py PROGRAM LOCATION OUT      record one stack at a gdb location, e.g. '*leaf+1'
    record_stack.py --all DIR                 build tests/tools/stacks.c and record the committed set
    record_stack.py --rows PID LIBRARY ADDRESS OUT
                                              record PID when it is at ADDRESS (the file's own) of
                                              LIBRARY, with the rows that it is walked by; needs
                                              build/tools/differential

The program runs with an empty environment and without address randomisation, so that a recording
can be made again."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# Runs inside gdb.
GDB_SCRIPT = r"""
import gdb
def reg(name):
    return int(gdb.selected_frame().read_register(name)) & (2**64 - 1)
def memory(inferior, address, length):
    data = bytes(inferior.read_memory(address, length))
    for at in range(0, length, 32):
        print('memory 0x%x %s' % (address + at, data[at:at + 32].hex()))
gdb.execute('set exec-wrapper env -i')
gdb.execute('handle SIGUSR1 nostop noprint pass', to_string=True)
gdb.execute('break ' + LOCATION, to_string=True)
gdb.execute('run', to_string=True)
inferior = gdb.selected_inferior()
print('RECORDING')
for ours, theirs in (('pc', 'rip'), ('sp', 'rsp'), ('fp', 'rbp'), ('r13', 'r13')):
    print('%s 0x%x' % (ours, reg(theirs)))
with open('/proc/%d/stat' % inferior.pid) as stat: # startstack, where argc is
    print('top 0x%x' % int(stat.read().rpartition(')')[2].split()[25]))
top, code = reg('rsp'), []
frame = gdb.newest_frame()
while frame is not None:
    name = frame.name() or '[signal]'
    print('frame 0x%x %s' % (frame.pc(), name.replace(' ', '_')))
    top = max(top, int(frame.read_register('rsp')) & (2**64 - 1))
    code.append(frame.pc())
    if frame.function():
        code.append(int(frame.function().value().address))
    frame = frame.older()
memory(inferior, reg('rsp') - 128, (top - reg('rsp') + 128 + 64) // 32 * 32)
for pc in sorted(set(code)):
    memory(inferior, pc - 8, 32)
gdb.execute('kill', to_string=True)
"""

# Runs inside gdb, attached.
ATTACHED_SCRIPT = r"""
import gdb
names = 'rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15'.split()
gdb.execute('set backtrace past-main on')
gdb.execute('set backtrace past-entry on')
gdb.execute('break *0x%x' % ADDRESS, to_string=True)
gdb.execute('continue', to_string=True)
frame = gdb.newest_frame()
def reg(name):
    return int(frame.read_register(name)) & (2**64 - 1)
with open(OUT, 'w') as out:
    out.write('pc 0x%x\n' % reg('rip'))
    for number, name in enumerate(names):
        out.write('reg %d 0x%x\n' % (number, reg(name)))
    out.write(MAPS)
    at = reg('rsp') - 128
    data = bytes(gdb.selected_inferior().read_memory(at, min(STACK_END - at, 32768)))
    out.write('stack 0x%x %s\n' % (at, data.hex()))
    while frame is not None:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            out.write('frame 0x%x\n' % frame.pc())
        frame = frame.older()
gdb.execute('detach', to_string=True)
"""

# One recording per state that a leaf can be in; see bpf/native/leaf.h.
SET = {
    'body': '*leaf+8',
    'entry': '*leaf',
    'pushed': '*leaf+1',
    'handler': '*handler_leaf+4',
    'handler_entry': '*handler_leaf',
}


def record(program, location, out):
    with tempfile.NamedTemporaryFile('w', suffix='.py') as script:
        script.write('LOCATION = %r\n' % location + GDB_SCRIPT)
        script.flush()
        run = subprocess.run(['gdb', '-batch', '-nx', '-x', script.name, program],
                             capture_output=True, text=True, check=True)
    head, found, body = run.stdout.partition('RECORDING\n')
    if not found:
        sys.exit('gdb did not stop at %s:\n%s%s' % (location, head, run.stderr))
    lines = [l for l in body.splitlines()
             if l.split(' ')[0] in ('pc', 'sp', 'fp', 'r13', 'top', 'frame', 'memory')]
    with open(out, 'w') as f:
        f.write('# %s at %s\n' % (os.path.basename(program), location))
        f.write('\n'.join(lines) + '\n')


def disassembly(program, function):
    run = subprocess.run(['objdump', '-d', '--no-show-raw-insn', program],
                         capture_output=True, text=True, check=True)
    body = run.stdout.partition('<%s>:\n' % function)[2].partition('\n\n')[0]
    rows = [l.strip().split('\t') for l in body.splitlines()]
    return [(int(r[0].rstrip(':'), 16), r[1]) for r in rows if len(r) > 1]


def record_all(directory):
    with tempfile.TemporaryDirectory() as temp:
        program = os.path.join(temp, 'stacks')
        subprocess.run(['gcc', '-O1', '-g', '-static', '-nostdlib', '-fno-omit-frame-pointer',
                        '-fno-optimize-sibling-calls', '-fcf-protection=none',
                        '-fno-stack-protector', '-o', program, os.path.join(HERE, 'stacks.c')],
                       check=True)
        for name, location in SET.items():
            record(program, location, os.path.join(directory, name + '.stack'))
        code = disassembly(program, 'leaf')
        ret = next(a for a, text in code if text.startswith('ret'))
        record(program, '*0x%x' % ret, os.path.join(directory, 'ret.stack'))


def read_maps(pid):
    """(start, end, offset, executable, path) of every mapping."""
    with open('/proc/%d/maps' % pid) as f:
        for line in f:
            fields = line.split(None, 5)
            start, end = (int(a, 16) for a in fields[0].split('-'))
            yield start, end, int(fields[2], 16), 'x' in fields[1], (fields[5:] or [''])[0].strip()


def record_rows(pid, library, address, out):
    maps = list(read_maps(pid))
    lines = ''.join('map 0x%x 0x%x 0x%x %s\n' % (m[0], m[1], m[2], m[4]) for m in maps if m[3])
    base = min(m[0] for m in maps if os.path.basename(m[4]) == library)
    stack_end = next(m[1] for m in maps if m[4] == '[stack]')
    with tempfile.TemporaryDirectory() as temp:
        snapshot, script = os.path.join(temp, 'snapshot'), os.path.join(temp, 'script.py')
        with open(script, 'w') as f:
            f.write('ADDRESS = 0x%x\nOUT = %r\nMAPS = %r\nSTACK_END = 0x%x\n%s'
                    % (base + address, snapshot, lines, stack_end, ATTACHED_SCRIPT))
        subprocess.run(['gdb', '-batch', '-nx', '-p', str(pid), '-x', script], check=True,
                       capture_output=True)
        build = os.environ.get('BUILD', os.path.join(HERE, '..', '..', 'build'))
        subprocess.run([os.path.join(build, 'tools', 'differential'), '--snapshot', snapshot, out],
                       check=True)


if __name__ == '__main__':
    if len(sys.argv) == 3 and sys.argv[1] == '--all':
        record_all(sys.argv[2])
    elif len(sys.argv) == 6 and sys.argv[1] == '--rows':
        record_rows(int(sys.argv[2]), sys.argv[3], int(sys.argv[4], 0), sys.argv[5])
    elif len(sys.argv) == 4:
        record(*sys.argv[1:])
    else:
        sys.exit(__doc__)
