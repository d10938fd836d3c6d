# SPDX-License-Identifier: Apache-2.0
"""The Java programs of `make check-real`: how each is had, started and kept busy.

A program is a function of (home of its JDK, directory of its own, seconds of load) that starts it and
returns Running. It raises Unavailable when its files cannot be had.
"""
import collections
import glob
import socket
import time

from fetch import *
from hp import *

Running = collections.namedtuple("Running", "jvms load")  # name → pid; starts the load
Program = collections.namedtuple("Program", "name version warm_s start")

PROGRAMS = []
HEAP = "-Xmx512m"
CONNECTIONS = 32


def program(name, version, warm_s=4):
    """Register how to start a program; the recording begins WARM_S after its load."""
    def keep(start):
        PROGRAMS.append(Program(name, version, warm_s, start))
        return start
    return keep


def test_programs(check, programs=PROGRAMS):
    """CHECK of each of these programs is a test that is called as it is; PROGRAMS must be registered by then."""
    for one in programs:
        def named(one=one):
            check(one)
        named.__name__ = one.name.replace("-", "_")
        test(named)


# --- processes ------------------------------------------------------------------------------


class Beside:
    """A process whose output goes to a file; ended when the program is over."""

    def __init__(self, argv, log, **more):
        with open(log, "wb") as out:
            self.popen = subprocess.Popen([str(arg) for arg in argv], stdin=subprocess.DEVNULL,
                                          stdout=out, stderr=subprocess.STDOUT, **more)
        self.pid, self.log, self.what = self.popen.pid, log, os.path.basename(log)
        at_end(self._judge_end)
        cleanup(self.stop)

    def _judge_end(self):
        """Who is not there any more at the end must have ended well."""
        if self.popen.poll():
            self._note_death()

    def _note_death(self):
        note_death(f"{self.what} ended with {self.popen.returncode} unasked; its last words:", self.text())

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_for(self, condition, timeout=60):
        """Until CONDITION() holds; fails with its last lines when it ends before."""
        until = time.monotonic() + timeout
        while not condition():
            expect(self.popen.poll() is None and time.monotonic() < until,
                   f"{self.what} is not ready: {self.text()[-500:]}")
            time.sleep(0.1)
        return self

    def wait_text(self, text="ready"):
        return self.wait_for(lambda: text in self.text())

    def stop(self):
        if self.popen.poll() is not None:
            return
        self.popen.terminate()
        try:
            self.popen.wait(10)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
        if crashed(self.popen.returncode):
            self._note_death()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def accepts(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def java_of(home):
    return os.path.join(home, "bin", "java")


def compiled(home, name, class_path, directory):
    """A class path with NAME.java of this directory compiled in front."""
    run([os.path.join(home, "bin", "javac"), "-encoding", "UTF-8", "-cp", class_path, "-d", directory,
         os.path.join(REAL, "java", f"{name}.java")], code=0)
    return f"{directory}:{class_path}"


def http_load(port, path, seconds, directory):
    """Starts requests to a server for so many seconds."""
    generator = load_generator()
    url = f"http://127.0.0.1:{port}{path}"
    if generator:
        argv = [*generator, "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", url]
    else:
        argv = [sys.executable, os.path.join(REAL, "http_load.py"), CONNECTIONS, seconds, url]
    return lambda: Beside(argv, os.path.join(directory, "load.log"))


# --- servers --------------------------------------------------------------------------------


def tomcat_base(home, directory, port, connector):
    """A directory for one Tomcat: its configuration with one connector on this port."""
    base = os.path.join(directory, "base")
    shutil.copytree(os.path.join(home, "conf"), os.path.join(base, "conf"))
    for name in ("logs", "temp", "work"):
        os.mkdir(os.path.join(base, name))
    path = os.path.join(base, "conf", "server.xml")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = text.replace('<Connector port="8080"',
                        f'<Connector address="127.0.0.1" port="{port}" {connector}', 1)
    text = text.replace('<Server port="8005"', '<Server port="-1"')
    write_file(path, text.replace('appBase="webapps"', f'appBase="{home}/webapps"'))
    return base


def tomcat_command(java_home, directory, connector=""):
    """Its words, their environment, the port of it."""
    home = unpack("tomcat", artifact("tomcat-archive", "org.apache.tomcat:tomcat:11.0.24:tar.gz"))
    home, = glob.glob(os.path.join(home, "apache-tomcat-*"))
    port = free_port()
    env = {**os.environ, "JAVA_HOME": java_home, "CATALINA_HOME": home, "JAVA_OPTS": HEAP,
           "CATALINA_BASE": tomcat_base(home, directory, port, connector)}
    return [os.path.join(home, "bin", "catalina.sh"), "run"], env, port


def start_tomcat(name, java_home, directory, seconds, connector=""):
    argv, env, port = tomcat_command(java_home, directory, connector)
    server = Beside(argv, os.path.join(directory, "tomcat.log"), env=env)
    server.wait_for(lambda: accepts(port))
    page = "/examples/jsp/jsp2/el/basic-arithmetic.jsp"
    return Running({name: server.pid}, http_load(port, page, seconds, directory))


@program("tomcat", 17)
def tomcat(home, directory, seconds):
    return start_tomcat("tomcat", home, directory, seconds)


@program("tomcat-virtual", 25)
def tomcat_virtual(home, directory, seconds):
    return start_tomcat("tomcat-virtual", home, directory, seconds, 'useVirtualThreads="true"')


@program("helidon", 25)
def helidon(home, directory, seconds):
    class_path = f"{libraries('helidon', 'io.helidon.webserver:helidon-webserver:4.5.0')}/*"
    class_path = compiled(home, "HelidonWork", class_path, directory)
    port = free_port()
    server = Beside([java_of(home), HEAP, "-cp", class_path, "HelidonWork", port],
                    os.path.join(directory, "helidon.log")).wait_text()
    return Running({"helidon": server.pid}, http_load(port, "/work", seconds, directory))


@program("undertow", 17)
def undertow(home, directory, seconds):
    """With a debugger's agent loaded, which wants to hear of exceptions."""
    class_path = f"{libraries('undertow', 'io.undertow:undertow-core:2.3.18.Final')}/*"
    class_path = compiled(home, "UndertowWork", class_path, directory)
    port, debugged = free_port(), free_port()
    jdwp = f"-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:{debugged}"
    server = Beside([java_of(home), HEAP, jdwp, "-cp", class_path, "UndertowWork", port],
                    os.path.join(directory, "undertow.log")).wait_text()
    return Running({"undertow": server.pid}, http_load(port, "/work", seconds, directory))


KAFKA_PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
log.dirs={directory}/data
num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.retention.bytes=50000000
log.segment.bytes=25000000
"""


@program("kafka", 17, warm_s=8)
def kafka(home, directory, seconds):
    class_path = libraries("kafka", "org.apache.kafka:kafka_2.13:4.3.1",
                           "org.apache.kafka:kafka-tools:4.3.1") + "/*"
    java = [java_of(home), HEAP, "-cp", class_path]
    broker, controller = free_port(), free_port()
    properties = write_file(os.path.join(directory, "server.properties"), KAFKA_PROPERTIES.format(
        broker=broker, controller=controller, directory=directory))
    storage = [*java, "kafka.tools.StorageTool"]
    cluster = run([*storage, "random-uuid"], code=0).out.split()[-1]
    run([*storage, "format", "-t", cluster, "-c", properties], code=0)
    server = Beside([*java, "kafka.Kafka", properties], os.path.join(directory, "broker.log"))
    server.wait_for(lambda: accepts(broker))
    jvms = {"kafka": server.pid}

    def load():
        tools, address = [*java[:1], "-Xmx256m", *java[2:]], f"bootstrap.servers=127.0.0.1:{broker}"
        producer = [*tools, "org.apache.kafka.tools.ProducerPerformance", "--topic", "t",
                    "--num-records", 100_000_000, "--record-size", 200, "--throughput", 40_000,
                    "--producer-props", address]
        consumer = [*tools, "org.apache.kafka.tools.ConsumerPerformance", "--topic", "t",
                    "--num-records", 100_000_000, "--bootstrap-server", f"127.0.0.1:{broker}",
                    "--timeout", 1000 * (seconds + 60)]
        jvms["kafka producer"] = Beside(producer, os.path.join(directory, "producer.log")).pid
        time.sleep(2)
        jvms["kafka consumer"] = Beside(consumer, os.path.join(directory, "consumer.log")).pid
    return Running(jvms, load)


# --- programs that work by themselves ---------------------------------------------------------


def alone(name, argv, directory):
    """A program that needs no load from outside: it starts when the load would."""
    jvms = {}

    def load():
        jvms[name] = Beside(argv, os.path.join(directory, f"{name}.log")).pid
    return Running(jvms, load)


@program("scala", 17, warm_s=15)
def scala(home, directory, seconds):
    """The Scala compiler compiles itself: two minutes on one core."""
    class_path = libraries("scala", "org.scala-lang:scala-compiler:2.13.18") + "/*"
    sources = unpack("scala-sources", artifact(
        "scala-sources-archive", "org.scala-lang:scala-compiler:2.13.18:jar:sources"))
    own = os.path.join(sources, "scala", "tools", "nsc")
    files = sorted(os.path.join(place, name) for place, _, names in os.walk(own) for name in names
                   if name.endswith((".scala", ".java")))
    arguments = write_file(os.path.join(directory, "files"), "\n".join(files))
    return alone("scala", [java_of(home), "-Xss8m", "-Xmx1500m", "-cp", class_path,
                           "scala.tools.nsc.Main", "-nowarn", "-usejavacp", "-d", directory,
                           f"@{arguments}"], directory)


@program("jruby", 17)
def jruby(home, directory, seconds):
    jar = artifact("jruby", "org.jruby:jruby-complete:9.4.15.0:jar")
    return alone("jruby", [java_of(home), HEAP, "-Djruby.compile.invokedynamic=true", "-jar", jar,
                           os.path.join(REAL, "working.rb"), seconds], directory)


@program("h2", 17)
def h2(home, directory, seconds):
    jar = artifact("h2", "com.h2database:h2:2.5.252:jar")
    with open(os.path.join(REAL, "working.sql"), encoding="utf-8") as file:
        script = write_file(os.path.join(directory, "many.sql"), file.read() * 1000)
    return alone("h2", [java_of(home), HEAP, "-cp", jar, "org.h2.tools.RunScript", "-url",
                        "jdbc:h2:mem:t", "-script", script], directory)


@program("lucene", 25)
def lucene(home, directory, seconds):
    class_path = libraries("lucene", "org.apache.lucene:lucene-demo:10.3.0") + "/*"
    class_path = compiled(home, "LuceneWork", class_path, directory)
    text = unpack("scala-sources", artifact(
        "scala-sources-archive", "org.scala-lang:scala-compiler:2.13.18:jar:sources"))
    return alone("lucene", [java_of(home), HEAP, "--add-modules", "jdk.incubator.vector",
                            "--enable-native-access=ALL-UNNAMED", "-cp", class_path, "LuceneWork",
                            text, directory, seconds], directory)


@program("clojure", 17)
def clojure(home, directory, seconds):
    class_path = f"{libraries('clojure', 'org.clojure:clojure:1.12.3')}/*"
    return alone("clojure", [java_of(home), HEAP, "-cp", class_path, "clojure.main",
                             os.path.join(REAL, "working.clj"), seconds], directory)


@program("hazelcast", 25)
def hazelcast(home, directory, seconds):
    class_path = f"{libraries('hazelcast', 'com.hazelcast:hazelcast:5.5.0')}/*"
    class_path = compiled(home, "HazelcastWork", class_path, directory)
    return alone("hazelcast", [java_of(home), HEAP, "-cp", class_path, "HazelcastWork", seconds], directory)


@program("jna", 17)
def jna(home, directory, seconds):
    class_path = compiled(home, "JnaWork", f"{libraries('jna', 'net.java.dev.jna:jna:5.19.1')}/*", directory)
    return alone("jna", [java_of(home), HEAP, "-cp", class_path, "JnaWork", seconds], directory)


@program("neo4j", 17, warm_s=15)
def neo4j(home, directory, seconds):
    """Of Debian's and Temurin's builds 17 has Shenandoah."""
    class_path = f"{libraries('neo4j', 'org.neo4j:neo4j:5.26.0')}/*"
    class_path = compiled(home, "Neo4jWork", class_path, directory)
    return alone("neo4j", [java_of(home), "-Xmx700m", "-XX:+UseShenandoahGC", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp",
                           class_path, "Neo4jWork", os.path.join(directory, "graph"), seconds + 10], directory)


@program("graal", 25, warm_s=15)
def graal(home, directory, seconds):
    """Clojure's agents, compiled by Graal's compiler, which is Java itself; with debug information also between safepoints, as other profilers switch it on."""
    class_path = f"{libraries('clojure', 'org.clojure:clojure:1.12.3')}/*"
    modules = libraries("graal", "org.graalvm.compiler:compiler:25.0.1")
    jars = ":".join(sorted(glob.glob(os.path.join(modules, "*.jar"))))
    return alone("graal", [java_of(home), HEAP, "-XX:+UnlockExperimentalVMOptions", "-XX:+EnableJVMCI", "-XX:+UseJVMCICompiler",
                           "-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints", "--upgrade-module-path", jars, "-cp", class_path, "clojure.main",
                           os.path.join(REAL, "working.clj"), seconds], directory)
