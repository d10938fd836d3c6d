# SPDX-License-Identifier: Apache-2.0
"""Languages that are interpreted, or compiled while they run. HOSTPROF_PYTHONS has more CPythons (programs, between colons; scripts/get-pythons.sh)."""
import os
import shutil
import subprocess

from .kind import kind

LOAD = '"$HERE"/load'


def pythons():
    """(version, program) of those that tell perf of their functions."""
    found = {}
    for program in [*os.environ.get("HOSTPROF_PYTHONS", "").split(":"), "python3.12", "python3.13", "python3.14", "python3"]:
        path = shutil.which(program)
        if not path:
            continue
        said = subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=False)
        if said.returncode == 0:
            major, minor = said.stdout.split()
            found.setdefault((int(major), int(minor)), path)
    return sorted((version, path) for version, path in found.items() if version >= (3, 12))


kind("ruby", r"ruby.*", packages="ruby", script=f"work ruby {LOAD}/work.rb")
kind("lua", r"lua.*", packages="lua5.4", script=f"work lua5.4 {LOAD}/work.lua")
kind("perl", r"perl", packages="perl", script=f"work perl {LOAD}/work.pl")
kind("tcl", r"tclsh.*", packages="tclsh8.6:tcl8.6", script=f"work tclsh8.6 {LOAD}/work.tcl")
kind("gawk", r"gawk", packages="gawk", script=r"""work gawk 'BEGIN { while (1) { for (i = 0; i < 4000; i++) a[i] = (i * 7919 % 10007) ""; n = asort(a);
	s = ""; for (i = 1; i <= n; i++) s = s " " a[i]; gsub(/[0-9]+7/, "x", s) } }'""")
kind("python3.11", r"python3.*", packages="/usr/bin/python3.11:python3.11", script=f"work /usr/bin/python3.11 {LOAD}/work.py")
for version, program in pythons():
    kind(f"python{version[0]}.{version[1]} -X perf", r"python3.*", script=f'work_noted "$PYTHON" -X perf {LOAD}/work.py', environment={"PYTHON": program})
    if version >= (3, 13):
        kind(f"python{version[0]}.{version[1]} -X perf_jit", r"python3.*", script=f'work_noted "$PYTHON" -X perf_jit {LOAD}/work.py',
             nameless="2 MiB of its dump stay in a buffer of its own until it ends", named=0.9, environment={"PYTHON": program})
kind("R", r"R", packages="Rscript:r-base-core", script=f"work Rscript {LOAD}/work.R")
kind("octave", r"octave.*", packages="octave-cli:octave", script=f"work octave-cli --quiet {LOAD}/work.m")
kind("node", r"node", packages="node:nodejs", script=f"work node {LOAD}/work.js",
     nameless="what V8 makes it names in its own heap only, unless --perf-basic-prof asks it to tell", named=0.9)
kind("node --perf-basic-prof", r"node", packages="node:nodejs", script=f"work_noted node --perf-basic-prof {LOAD}/work.js")
kind("chromium", r"chromium|chrome.*|Chrome.*|Compositor.*|ThreadPool.*|VizCompositor.*", packages="chromium",
     script=f"""work chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \\
	--disable-component-update --disable-sync --user-data-dir="$DIR/u" --remote-debugging-port=0 "file://$HERE/load/work.html" """,
     nameless="what V8 makes it names in its own heap only; its renderers may write no file for perf", named=0.95)
kind("php", r"php.*", packages="php8.2:php8.2-cli", script=f"work php8.2 -d opcache.enable_cli=0 {LOAD}/work.php")
kind("swi-prolog", r"swipl", packages="swipl:swi-prolog-nox", script=f"work swipl -q -g work {LOAD}/work.prolog")

# --- code without call frame information that they make --------------------------------------------

kind("php, JIT", r"php.*", packages="php8.2:php8.2-cli /usr/lib/php/20220829/opcache.so:php8.2-opcache", script=f"""
work php8.2 -d zend_extension=/usr/lib/php/20220829/opcache.so -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing {LOAD}/work.php
""", impossible="its JIT's code is left as it jumps back to the interpreter; what leaves by a register tells nobody where to", least=0.85)
kind("luajit", r"luajit", packages="luajit", script=f"work luajit {LOAD}/work.lua",
     impossible="its traces lie in a frame of the interpreter's that moves with them, and tell nobody how far", least=0.3)
kind("pypy", r"pypy3.*", packages="pypy3", script=f"work pypy3 {LOAD}/work.py",
     impossible="its JIT's code is left as it returns; what leaves by a register tells nobody where to", least=0.83)
kind("guile", r"guile.*", packages="guile-3.0", script=f"work guile-3.0 --no-auto-compile {LOAD}/work.scm",
     impossible="its JIT's code is left as it returns; what goes on by a register, as most of it does, tells nobody where to", least=0.35)
kind("sbcl", r"sbcl", packages="sbcl", script=f"work sbcl --script {LOAD}/work.lisp",
     impossible="the parts of its code that allocate have neither frames nor an end that is found", least=0.9)
kind("erlang", r"beam\.smp|[0-9]+_scheduler|erl.*", packages="erl:erlang-base", make=f"erlc {LOAD}/work.erl", script="work erl -noshell -s work main",
     impossible="the BEAM's processes have stacks of their own, and its JIT's code no call frame information", least=0.0)
kind("mono", r"mono.*|work.exe", packages="mono:mono-runtime mcs:mono-mcs", make=f"mcs -out:work.exe {LOAD}/work.cs", script="work mono work.exe",
     impossible="its JIT's code is left as it returns; what goes on by a register tells nobody where to", least=0.9)
