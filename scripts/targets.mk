# Targets that people type; every one has its help behind "##".
.DEFAULT_GOAL := all

# What a recipe builds is built by a second make: after `setup` in the same command line, this one
# would still know nothing of the packages that were just installed.
AGAIN	 = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
SCRIPT_ENV = BUILD=$(BUILD)
FUZZ_SECONDS ?= 20
JDKS	 ?= .jdks
SAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
# clang calls NULL + 0 an overflow, which every empty array would be.
FUZZ_FLAGS := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined \
	-fno-sanitize=pointer-overflow
COVERAGE_FLAGS := -fsanitize=fuzzer-no-link -fprofile-instr-generate -fcoverage-mapping
FUZZ_CFLAGS := -O1 -g -Wno-format-nonliteral

help: ## print this list
	@sed -nE 's/^([a-z][a-z-]*):.*## (.*)/\1\t\2/p' Makefile scripts/targets.mk | expand -t 16

setup: ## install what building and testing need (Debian 12): packages, and JDK 25 into .jdks
	@scripts/setup.sh

run: ## profile this host for 10 s into hostprof.html
	@+$(AGAIN) all
	@$(SCRIPT_ENV) scripts/run.sh

check: ## lint and run all tests; those that need root are skipped without it
	@+$(AGAIN) all workloads $(BUILD)/tests/test_recording
	@+$(SCRIPT_ENV) MAKE_UNIT_TESTS="$(AGAIN) unit-tests" scripts/check.sh lint unit rootless beside root

check-unit: ## run the unit tests
	@+$(AGAIN) unit-tests
	@$(SCRIPT_ENV) scripts/check.sh unit

check-root: ## run the tests that load BPF programs and profile real processes
	@+$(AGAIN) all workloads $(BUILD)/tests/test_recording
	@$(SCRIPT_ENV) scripts/check.sh rootless beside root

check-hostile: ## attacks on a recording: it ends, stays small, and says the truth of everybody else (root, minutes)
	@+$(AGAIN) all workloads
	@$(SCRIPT_ENV) scripts/check.sh hostile

check-live: ## record native programs until LIVE_SAMPLES (30000) are judged; prints a table
	@+$(AGAIN) all workloads
	@HOSTPROF_BUILD=$(BUILD) tests/root/live_unwind.py $(LIVE_SAMPLES)

check-steps: ## walk Java threads at every instruction, each JDK of HOSTPROF_JDKS (root, minutes)
	@+$(AGAIN) all workloads
	@HOSTPROF_BUILD=$(BUILD) tests/root/java_steps.py $(STEPS_OF)

check-random: ## RANDOM_SEEDS (5) Java/JNI programs made at random, jstack's word on one, 30,000 samples of virtual threads
	@+$(AGAIN) all
	@HOSTPROF_BUILD=$(BUILD) HOSTPROF_SEEDS=$(or $(RANDOM_SEEDS),5) tests/root/test_random.py
	@HOSTPROF_BUILD=$(BUILD) tests/root/random_jstack.py
	@HOSTPROF_BUILD=$(BUILD) HOSTPROF_SAMPLES=30000 tests/root/test_virtual.py

check-weights: ## weights of samples against the scheduler's clocks, 49 to 9,973 Hz, idle and busy (root, 12 minutes)
	@+$(AGAIN) all workloads
	@HOSTPROF_BUILD=$(BUILD) tests/root/weights_table.py

check-san: ## run the unit tests with the address and undefined-behaviour sanitizers
	@+$(AGAIN) BUILD=$(BUILD)/san SAN="$(SAN_FLAGS)" \
		CFLAGS="-O1 -g -fno-omit-frame-pointer -Wno-format-truncation" unit-tests
	@BUILD=$(BUILD)/san scripts/check.sh unit

check-kernels: ## boot Debian's kernels (6.1, 6.12, sid's) in qemu and try hostprof on each; no root
	@$(AGAIN) all workloads
	@$(SCRIPT_ENV) JAVA_HOME_BUILD=$(JAVA_HOME_BUILD) scripts/check-kernels.sh

check-scale: ## record 2,000 processes and 501 large files within the memory limit (root, 4 minutes)
	@+$(AGAIN) all workloads
	@HOSTPROF_BUILD=$(BUILD) tests/root/scale.py

check-events: ## record ten JVMs and PostgreSQL with five events at once, judged by what they know (root, a minute)
	@+$(AGAIN) all workloads
	@HOSTPROF_BUILD=$(BUILD) tests/root/all_events.py

check-churn: ## record for CHURN ("7200 10000": seconds, new programs) and see that no memory grows (root, two hours)
	@+$(AGAIN) all workloads
	@HOSTPROF_BUILD=$(BUILD) tests/root/churn.py $(CHURN)

check-real: ## record Tomcat, Kafka, Helidon, scalac, JRuby, H2, Lucene, Clojure, Hazelcast, Undertow, JNA, Neo4j, Graal under load (root, Maven, 15 minutes)
	@+$(AGAIN) all
	@HOSTPROF_BUILD=$(BUILD) tests/real/check_real.py

check-peer: ## the methods that take most, of H2, Clojure, Lucene and Graal, by async-profiler (ASPROF=libasyncProfiler.so) and hostprof at a time (root, Maven, 9 minutes)
	@+$(AGAIN) all
	@HOSTPROF_BUILD=$(BUILD) ASPROF=$(ASPROF) tests/real/check_peer.py

check-programs: ## record some fifty kinds of programs under load, a table of whole stacks and names; installs them by apt-get (root, 15 minutes)
	@+$(AGAIN) all
	@HOSTPROF_BUILD=$(BUILD) tests/real/check_programs.py

check-gdb: ## programs without call frame information, stopped at random places: gdb, who has it, says the frames (root, gdb, 3 minutes)
	@+$(AGAIN) all
	@HOSTPROF_BUILD=$(BUILD) tests/real/check_gdb.py

check-containers: ## a JVM in a container of docker and of podman, where these are installed (root, 1 minute)
	@+$(AGAIN) all workloads
	@HOSTPROF_BUILD=$(BUILD) tests/real/check_containers.py

check-jdks: ## Java stacks on OpenJDK 8 to 28: fetches them into JDKS, prints a table (root, 10 minutes)
	@+$(AGAIN) all workloads
	@$(if $(HOSTPROF_JDKS),,scripts/get-jdks.sh $(JDKS))
	@HOSTPROF_BUILD=$(BUILD) HOSTPROF_JDKS=$(or $(HOSTPROF_JDKS),$(abspath $(JDKS))) tests/root/jdk_matrix.py

check-alloc: ## allocation profiles on OpenJDK 8 to 28, with and without agent: fetches them into JDKS (root, 15 minutes)
	@+$(AGAIN) all workloads
	@$(if $(HOSTPROF_JDKS),,scripts/get-jdks.sh $(JDKS))
	@HOSTPROF_BUILD=$(BUILD) HOSTPROF_JDKS=$(or $(HOSTPROF_JDKS),$(abspath $(JDKS))) tests/root/alloc_matrix.py $(ALLOC_OF)

check-mutants: ## break the product line by line: a unit test must notice each
	@+$(AGAIN) unit-tests
	@$(SCRIPT_ENV) CC="$(CC)" LDLIBS="$(LDLIBS)" JAVA_HOME_BUILD=$(JAVA_HOME_BUILD) scripts/check-mutants.py

check-random-mutants: ## break NUMBER (300) random lines, SEED to repeat: 90 % must be noticed by unit tests
	@+$(AGAIN) all unit-tests
	@$(SCRIPT_ENV) CC="$(CC)" LDLIBS="$(LDLIBS)" JAVA_HOME_BUILD=$(JAVA_HOME_BUILD) scripts/mutate.py \
		$(if $(SEED),--seed $(SEED)) $(if $(NUMBER),--number $(NUMBER)) $(MUTATE_FLAGS)

check-differential: ## walk 10,000 stacks that perf takes as we do, as libdwfl and as gdb do
	@+$(AGAIN) $(BUILD)/tools/differential
	@$(SCRIPT_ENV) tests/tools/differential/run.py

fuzz: ## run every fuzzer (or FUZZERS) over its corpus for FUZZ_SECONDS (20; 0: only the corpus); FUZZ_LEDGER=1 notes how long
	@+$(AGAIN) BUILD=$(BUILD)/fuzz CC=clang SAN="$(FUZZ_FLAGS)" CFLAGS="$(FUZZ_CFLAGS)" fuzzers
	@BUILD=$(BUILD)/fuzz FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_LEDGER=$(FUZZ_LEDGER) scripts/fuzz.sh \
		$(FUZZERS:%=tests/fuzz/fuzz_%.c)

fuzz-keep: ## keep of what the last `make fuzz` (or FUZZERS) found what reaches more code, in tests/fuzz/found
	@BUILD=$(BUILD)/fuzz scripts/fuzz-keep.sh $(FUZZERS:%=tests/fuzz/fuzz_%.c)

fuzz-coverage: ## which functions of the parsers no fuzzer reaches, by corpora and what was kept
	@+$(AGAIN) BUILD=$(BUILD)/fuzz-coverage CC=clang SAN="$(COVERAGE_FLAGS)" \
		CFLAGS="$(FUZZ_CFLAGS)" fuzzers
	@BUILD=$(BUILD)/fuzz-coverage scripts/fuzz-coverage.py

lint: ## check format, layers, sizes, scripts, licence lines, mutants, BPF stacks, the agent's imports
	@+$(AGAIN) $(BUILD)/libhostprof-agent.so $(BUILD)/gen/hostprof.bpf.o
	@$(SCRIPT_ENV) scripts/lint.sh

tidy: ## clang-tidy over everything (slow)
	@$(SCRIPT_ENV) scripts/tidy.sh

bench: ## measure what recording costs
	@+$(AGAIN) all workloads $(BUILD)/tools/gen_recording $(BUILD)/tools/timed_stacks
	@HOSTPROF_BUILD=$(BUILD) tests/bench/bench.py

install: all ## install below DESTDIR, PREFIX (/usr/local), BINDIR, LIBDIR
	@$(SCRIPT_ENV) DESTDIR=$(DESTDIR) scripts/install.sh $(BINDIR) $(LIBDIR)

clean: ## remove the build directory
	rm -rf $(BUILD)

# With `make -jN setup check` the packages still come first.
ifneq ($(filter setup,$(MAKECMDGOALS)),)
run check check-unit check-root check-hostile check-live check-steps check-random check-weights check-san check-kernels check-scale check-events check-churn check-real check-peer check-programs check-gdb check-containers check-alloc check-mutants check-random-mutants fuzz fuzz-coverage lint tidy bench: | setup
endif

unit-tests: $(UNIT_BIN)

FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
fuzzers: $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/fuzzers/%)

$(BUILD)/fuzzers/%: tests/fuzz/%.c $(BUILD)/libhostprof.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CPPFLAGS) -Itests -Itests/unit $(USER_CFLAGS) -Wno-missing-prototypes $(LDFLAGS) \
		-fsanitize=fuzzer,address,undefined -o $@ $(filter %.c %.a,$^) $(LDLIBS)

.PHONY: help setup run check check-unit check-differential check-root check-hostile check-live check-steps check-random check-weights check-san check-kernels check-scale check-events check-churn check-real check-peer check-programs check-gdb check-containers check-alloc check-mutants check-random-mutants \
	fuzz fuzz-keep fuzz-coverage lint tidy bench install clean unit-tests fuzzers
