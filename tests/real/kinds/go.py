# SPDX-License-Identifier: Apache-2.0
"""Go: the host's own toolchain and those of HOSTPROF_GOS (their roots, between colons)."""
import os
import shutil
import subprocess

from .kind import kind


def toolchains():
    """(version, go)"""
    found = [os.path.join(root, "bin/go") for root in os.environ.get("HOSTPROF_GOS", "").split(":") if root]
    found += [go for go in (shutil.which("go") or "/usr/local/go/bin/go",) if os.access(go, os.X_OK)]
    for go in found:
        env = {**os.environ, "GOTOOLCHAIN": "local"}
        env.pop("GOROOT", None)
        said = subprocess.run([go, "env", "GOVERSION"], env=env, capture_output=True, text=True, check=False).stdout.strip()
        if said:
            yield said, go


def register(version, go):
    environment = {"GOTOOLCHAIN": "local", "GO111MODULE": "off", "GOFLAGS": "", "CGO_ENABLED": "0", "GO": go}
    for name, flags in {version: "", f"{version}, stripped": "-ldflags='-s -w'"}.items():
        kind(name, "work", make=f'"$GO" build {flags} -o work "$HERE"/load/work.go', script="work ./work", environment=environment)
    kind(f"{version}'s compiler", "compile|link|asm|go", make="mkdir cache",
         script="""GOCACHE="$DIR/cache" again "$GO" build -a -o work "$HERE"/load/work.go""", environment=environment)


for each in toolchains():
    register(*each)
