# SPDX-License-Identifier: Apache-2.0
"""Programs of others, fetched once into build/real and kept there: through Maven from Maven Central,
and wrk through apt, unpacked beside them. Nothing is installed on the host."""
import subprocess
import sys

from place import *

DEPENDENCY_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
FETCH_TIMEOUT_S = 300
POM = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>hostprof.check</groupId><artifactId>{name}</artifactId><version>1</version>
  <dependencies>{dependencies}</dependencies>
</project>
"""
DEPENDENCY = ("<dependency><groupId>{0}</groupId><artifactId>{1}</artifactId>"
              "<version>{2}</version></dependency>")


class Unavailable(Exception):
    """The program cannot be had here; says why."""


def run_quietly(argv, cwd, what):
    """Run a tool to its end; Unavailable with its last line when it fails."""
    if not shutil.which(argv[0]):
        raise Unavailable(f"{argv[0]} is not installed")
    try:
        done = subprocess.run(argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=FETCH_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{what}: not within {FETCH_TIMEOUT_S} s") from None
    if done.returncode:
        said = done.stdout.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        reason = next((line for line in said if "ERROR" in line), said[-1])
        raise Unavailable(f"{what}: {reason[:300]}")


def fetch_once(name, make):
    """The directory PLACE/NAME, filled by MAKE(directory) unless an earlier run did so."""
    directory = os.path.join(PLACE, name)
    if os.path.isdir(directory):
        return directory
    partial = f"{directory}.part"
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(partial)
    print(f"# fetching {name}", file=sys.stderr, flush=True)
    make(partial)
    os.rename(partial, directory)
    return directory


def libraries(name, *coordinates):
    """A directory with the jars of GROUP:ARTIFACT:VERSION… and all that they need."""
    def make(directory):
        rows = "".join(DEPENDENCY.format(*each.split(":")) for each in coordinates)
        write_file(os.path.join(directory, "pom.xml"), POM.format(name=name, dependencies=rows))
        run_quietly(["mvn", "-q", "-B", f"{DEPENDENCY_PLUGIN}:copy-dependencies",
                     "-DincludeScope=runtime", f"-DoutputDirectory={directory}"], directory, name)
    return fetch_once(name, make)


def artifact(name, coordinates):
    """The one file of GROUP:ARTIFACT:VERSION:TYPE[:CLASSIFIER]."""
    def make(directory):
        run_quietly(["mvn", "-q", "-B", f"{DEPENDENCY_PLUGIN}:copy", f"-Dartifact={coordinates}",
                     f"-DoutputDirectory={directory}"], directory, name)
    directory = fetch_once(name, make)
    return os.path.join(directory, os.listdir(directory)[0])


def unpack(name, archive):
    """A directory with the files of a tar or jar."""
    form = "zip" if archive.endswith(".jar") else "gztar"
    return fetch_once(name, lambda directory: shutil.unpack_archive(archive, directory, form))


def load_generator():
    """argv of wrk, from the host or from Debian's archive; None when it cannot be had."""
    if shutil.which("wrk"):
        return ["wrk"]

    def make(directory):
        run_quietly(["apt-get", "download", "wrk", "libluajit2-5.1-2"], directory, "wrk")
        for package in sorted(os.listdir(directory)):
            run_quietly(["dpkg-deb", "-x", package, "."], directory, package)
    try:
        root = fetch_once("wrk", make)
    except Unavailable:
        return None
    argv = ["env", f"LD_LIBRARY_PATH={root}/usr/lib/x86_64-linux-gnu", f"{root}/usr/bin/wrk"]
    works = subprocess.run([*argv, "-v"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           check=False)
    return argv if b"wrk" in works.stdout[:20] else None
