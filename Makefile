# hostprof: `make help` prints the targets.

BUILD	 ?= build
PREFIX	 ?= /usr/local
BINDIR	 ?= $(PREFIX)/bin
LIBDIR	 ?= $(PREFIX)/lib
VERSION	 := 0.1.0

CC	 ?= gcc
CLANG	 ?= clang
BPFTOOL	 ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
JAVA_HOME_BUILD ?= $(firstword $(wildcard /usr/lib/jvm/default-java /usr/lib/jvm/java-17-openjdk-amd64))
ARCH	 := x86
# `make V=1` shows the commands.
Q	 := $(if $(V),,@)
say	  = $(if $(V),,@printf '%-8s%s\n' $(1) $(@:$(BUILD)/%=%))

WARN := -Wall -Wextra -Wshadow -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wvla \
	-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wformat=2 \
	-Wnull-dereference
ifdef CI
WARN += -Werror
endif
HARDEN	 := -fstack-protector-strong -fstack-clash-protection -fcf-protection
CFLAGS	 ?= -O2 -g
FORTIFY	 := $(if $(findstring -O2,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
BASE_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(WARN) $(CFLAGS) -fvisibility=hidden -fno-common -MMD -MP
CPPFLAGS += -Iuserspace -Ibpf -Ijvmagent -I$(BUILD)/gen -DHOSTPROF_VERSION='"$(VERSION)"' \
	-DHOSTPROF_LIBDIR='"$(LIBDIR)"'
USER_CFLAGS = $(BASE_CFLAGS) $(FORTIFY) $(HARDEN) $(SAN)
LDFLAGS	 += -Wl,-z,relro,-z,now $(SAN)
LDLIBS	 := -lbpf -ldw -lelf -liberty -llzma -lz -lxxhash -lZydis -lseccomp -ljansson -lm -lpthread

USER_SRC := $(sort $(shell find userspace -name '*.c'))
LIB_SRC	 := $(filter-out userspace/cmd/main.c,$(USER_SRC))
LIB_OBJ	 := $(LIB_SRC:%.c=$(BUILD)/obj/%.o)
MAIN_OBJ := $(BUILD)/obj/userspace/cmd/main.o
UNIT_SRC := $(sort $(wildcard tests/unit/*/test_*.c))
UNIT_BIN := $(addprefix $(BUILD)/tests/,$(notdir $(UNIT_SRC:.c=)))
vpath test_%.c $(sort $(dir $(UNIT_SRC)))
# stacks.c has no C library; record_stack.py builds it.
TOOL_SRC := $(sort $(filter-out tests/tools/stacks.c,$(wildcard tests/tools/*.c)))
TOOL_BIN := $(TOOL_SRC:tests/tools/%.c=$(BUILD)/tools/%)
WORKLOAD_SRC := $(sort $(wildcard tests/workloads/*.c))
WORKLOAD_BIN := $(WORKLOAD_SRC:tests/workloads/%.c=$(BUILD)/workloads/%)
JAVA_SRC := $(sort $(wildcard tests/workloads/*.java))
JAVA_CLASSES := $(JAVA_SRC:tests/workloads/%.java=$(BUILD)/workloads/%.class)
EMBEDDED := $(wildcard userspace/output/html/*.js userspace/output/html/*.css userspace/output/html/*.html)

all: $(BUILD)/hostprof $(BUILD)/libhostprof-agent.so ## build both binaries

include scripts/targets.mk

# --- BPF -------------------------------------------------------------------------------------

BPF_CFLAGS := -target bpf -g -O2 -mcpu=v3 -Wall -Werror -D__TARGET_ARCH_$(ARCH) -Ibpf -Ivmlinux \
	-I/usr/include/$(shell $(CC) -print-multiarch 2>/dev/null)

$(BUILD)/gen/hostprof.bpf.o: bpf/hostprof.bpf.c $(wildcard bpf/*.h bpf/*/*.h bpf/*/*/*.h bpf/*.def vmlinux/*.h)
	@mkdir -p $(@D)
	$(call say,BPF)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(BUILD)/gen/hostprof.skel.h: $(BUILD)/gen/hostprof.bpf.o
	$(call say,GEN)
	$(Q)$(BPFTOOL) gen skeleton $< name hostprof_bpf > $@.tmp && mv $@.tmp $@

# The skeleton is included from this one file only.
$(BUILD)/obj/userspace/capture/bpf_session.o: $(BUILD)/gen/hostprof.skel.h

# --- userspace -------------------------------------------------------------------------------

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(USER_CFLAGS) -c $< -o $@

# Pages and scripts are embedded with .incbin.
$(BUILD)/obj/userspace/output/html/embedded.o: $(EMBEDDED)

$(BUILD)/libhostprof.a: $(LIB_OBJ)
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $(filter %.o,$^)

$(BUILD)/hostprof: $(MAIN_OBJ) $(BUILD)/libhostprof.a
	$(call say,LINK)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LDLIBS)

# --- agent: one binary for every JVM; nothing newer than GLIBC_2.17, nothing that musl lacks ---

AGENT_SRC := $(sort $(wildcard jvmagent/*.c))
AGENT_OBJ := $(AGENT_SRC:%.c=$(BUILD)/agent/%.o)
JVM_INCLUDES := -isystem $(JAVA_HOME_BUILD)/include -isystem $(JAVA_HOME_BUILD)/include/linux
AGENT_CFLAGS = $(BASE_CFLAGS) -fPIC -fno-stack-protector -U_FORTIFY_SOURCE \
	-fno-stack-clash-protection -fcf-protection=branch $(JVM_INCLUDES)

$(BUILD)/agent/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) -Ijvmagent -DHOSTPROF_VERSION='"$(VERSION)"' $(AGENT_CFLAGS) -c $< -o $@

$(BUILD)/libhostprof-agent.so: $(AGENT_OBJ) $(wildcard jvmagent/*.map)
	$(call say,LINK)
	$(Q)$(CC) -shared -Wl,-z,relro,-z,now -Wl,-soname,libhostprof-agent.so \
		$(addprefix -Wl$(comma)--version-script=,$(wildcard jvmagent/*.map)) \
		-o $@ $(filter %.o,$^) -lpthread
comma := ,

# --- tests and workloads ---------------------------------------------------------------------

# The agent's sources are included by its tests; a header of fakes has more than each of them needs.
$(BUILD)/tests/test_agent_%: TEST_CFLAGS := $(JVM_INCLUDES) -Wno-unused-function -Wno-null-dereference -Wno-array-bounds

# Loads it into a JVM.
$(BUILD)/tests/test_live_jvm: | $(BUILD)/libhostprof-agent.so

# What they test is optimized; they themselves are run once, and take longer to compile than to run.
$(BUILD)/tests/test_%: test_%.c $(BUILD)/libhostprof.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CPPFLAGS) -Itests -Itests/unit $(USER_CFLAGS) -O0 -U_FORTIFY_SOURCE -Wno-missing-prototypes $(TEST_CFLAGS) $(LDFLAGS) \
		-o $@ $(filter tests/%.c,$^) $(filter %.a,$^) $(LDLIBS) -lcmocka

# Programs that make what a test reads.
$(BUILD)/tools/%: tests/tools/%.c $(BUILD)/libhostprof.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CPPFLAGS) -Itests -Itests/unit $(USER_CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) $(filter %.a,$^) $(LDLIBS)

# Of more than one file, and with elfutils' unwinder beside ours.
RECORDED_SRC := $(wildcard tests/tools/recorded/*.c)
$(BUILD)/tools/differential: $(wildcard tests/tools/differential/*.c) $(RECORDED_SRC)
$(BUILD)/tests/test_compare: tests/tools/differential/compare.c tests/tools/differential/damage.c
$(BUILD)/tests/test_seen_calls: tests/tools/java_steps/seen_calls.c
$(BUILD)/tools/java_steps: $(filter-out %_jni.c,$(wildcard tests/tools/java_steps/*.c)) $(RECORDED_SRC)

# The C half of Steps.java, without frame pointers.
$(BUILD)/workloads/libsteps.so: tests/tools/java_steps/steps_jni.c
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -fomit-frame-pointer -fPIC -shared -Wall \
		-isystem $(JAVA_HOME_BUILD)/include -isystem $(JAVA_HOME_BUILD)/include/linux -o $@ $<

$(BUILD)/workloads/%: tests/workloads/%.c $(wildcard tests/workloads/*.h)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -Wall -o $@ $< -lpthread

# --release 8, so that every JDK of the matrix can run them. One compiler for all: most of its time is its own start.
$(JAVA_CLASSES) &: $(JAVA_SRC)
	@mkdir -p $(@D)
	$(call say,JAVAC)
	$(Q)said=$$($(JAVA_HOME_BUILD)/bin/javac -nowarn -encoding UTF-8 --release 8 -d $(BUILD)/workloads $(JAVA_SRC) 2>&1) || { echo "$$said"; exit 1; }
	@touch $(JAVA_CLASSES)

workloads: $(WORKLOAD_BIN) $(JAVA_CLASSES) $(TOOL_BIN) $(BUILD)/workloads/libsteps.so

include tests/workloads/unwind/build.mk
include tests/workloads/spine/build.mk

-include $(LIB_OBJ:.o=.d) $(MAIN_OBJ:.o=.d) $(AGENT_OBJ:.o=.d) $(UNIT_BIN:=.d) $(TOOL_BIN:=.d)

.PHONY: all workloads
.DELETE_ON_ERROR:
