#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Differential test of the unwinder: perf takes snapshots (registers and a copy of the stack) of
programs that keep busy for some seconds, `differential` walks each of them twice and compares.

    run.py [--seconds S] [--keep DIR] [NAME...]      all programs, or those named

Needs root or kernel.perf_event_paranoid <= 1. A program that is not installed is skipped."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BUILD = os.path.abspath(os.environ.get('BUILD', os.path.join(TOP, 'build')))
TOOL = os.path.join(BUILD, 'tools', 'differential')

STACK_BYTES = 32768
SAMPLE_BYTES = STACK_BYTES + 450  # with registers, and what else a record has
# Of each program; 13 of them make the 10,000 that are asked for.
SAMPLES, MOST_ROUNDS = 850, 12

PERF = ['perf', 'record', '-q', '-e', 'cpu-clock', '-c', '1000000', '-m', '16M',
        '--call-graph', 'dwarf,%d' % STACK_BYTES]

GCC = ('gcc', '-O2', '-D_GNU_SOURCE', '-o', 'OUT')


def busy(name):
    return os.path.join(HERE, 'programs', name)


def build(directory, output, *command):
    """OUTPUT built by COMMAND, or None when its compiler is not there."""
    if not shutil.which(command[0]):
        return None
    path = os.path.join(directory, output)
    subprocess.run([part.replace('OUT', path) for part in command], check=True,
                   env={**os.environ, 'GOFLAGS': '-mod=mod', 'GO111MODULE': 'off'})
    return path


def shell(seconds, body):
    return ['timeout', str(seconds), 'sh', '-c', 'while :; do %s; done >/dev/null 2>&1' % body]


def commands(directory, seconds):
    """Name -> command, None when the program is not there."""
    def own(name, *command):
        path = build(directory, name, *command)
        return path and [path, str(seconds)]

    def script(program, name):
        return shutil.which(program) and [shutil.which(program), busy(name), str(seconds)]

    text = os.path.join(directory, 'text')
    with open(text, 'w') as f:
        f.write(''.join('%d %x\n' % (i * 7919 % 100003, i * i) for i in range(400000)))
    library = build(directory, 'busy_lazy.so', *GCC, '-shared', '-fPIC', '-Wl,-z,lazy',
                    busy('busy_lazy.c'))
    lazy = build(directory, 'busy_lazy', *GCC, '-DMAIN', busy('busy_lazy.c'))
    compiled = os.path.join(TOP, 'userspace', 'base', 'json.c')
    return {
        'gzip': shell(seconds, 'gzip -9 -c ' + text),
        'python3': [sys.executable, busy('busy.py'), str(seconds)],
        'git': shutil.which('git') and shell(seconds, 'git -C %s log -p -M -C --stat' % TOP),
        'perl': script('perl', 'busy.pl'),
        'cc1': shutil.which('gcc') and shell(
            seconds, 'gcc -O2 -D_GNU_SOURCE -I%s/userspace -c -o /dev/null %s' % (TOP, compiled)),
        'node': script('node', 'busy.js'),
        'openssl': shutil.which('openssl') and shell(
            seconds, ';'.join('openssl speed -seconds 1 ' + a for a in (
                '-evp aes-256-gcm', 'rsa2048', 'ecdsap256', '-evp chacha20-poly1305', '-evp sha256'))),
        'go': own('busy_go', 'go', 'build', '-o', 'OUT', busy('busy.go')),
        'rust': own('busy_rust', 'rustc', '-O', '-o', 'OUT', busy('busy.rs')),
        'c': own('busy_c', *GCC, busy('busy.c'), '-lm'),
        'static': own('busy_static', *GCC, '-static', busy('busy.c'), '-lm'),
        'c++': own('busy_cc', 'g++', '-O2', '-o', 'OUT', busy('busy.cc')),
        'lazy': lazy and [lazy, library, '0.5'],
    }


def record_once(path, command):
    run = subprocess.run(PERF + ['-o', path, '--'] + command, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True, check=False)
    if not os.path.exists(path) or not os.path.getsize(path):
        sys.exit('perf recorded nothing of %s: %s' % (' '.join(command), run.stderr))
    return os.path.getsize(path) // SAMPLE_BYTES


def record(name, command, directory):
    """As many recordings as give enough samples: on a busy host one is not enough."""
    paths, samples = [], 0
    while samples < SAMPLES and len(paths) < MOST_ROUNDS:
        paths.append(os.path.join(directory, '%s.%d.data' % (name, len(paths))))
        samples += record_once(paths[-1], command)
    print('%s: %d snapshots' % (name, samples), flush=True)
    return paths


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--seconds', type=float, default=4)
    parser.add_argument('--keep')
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()
    if not shutil.which('perf'):
        sys.exit('check-differential needs perf (Debian: linux-perf)')
    with tempfile.TemporaryDirectory(prefix='hostprof-differential-') as temp:
        directory = os.path.abspath(args.keep or temp)
        os.makedirs(directory, exist_ok=True)
        found, skipped = [], []
        for name, command in commands(directory, args.seconds).items():
            if args.names and name not in args.names:
                continue
            if not command:
                skipped.append(name)
                continue
            found += record(name, command, directory)
        sys.stdout.flush()
        status = subprocess.run([TOOL, '--gdb', '300', '--least', '1' if args.names else '10000'] + found, check=False).returncode
    for name in skipped:
        print('SKIPPED %s: not installed' % name)
    sys.exit(status)


if __name__ == '__main__':
    main()
