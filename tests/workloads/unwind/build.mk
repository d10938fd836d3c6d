# Programs for the tests of native unwinding: compiled without frame pointers, names of no more than
# 15 characters (comm), all in $(BUILD)/workloads/unwind. Those in other languages are built where
# their compiler is; the tests say when one is missing.

UNWIND_SRC := tests/workloads/unwind
UNWIND_OUT := $(BUILD)/workloads/unwind
UNWIND_HEADERS := $(UNWIND_SRC)/known.h tests/workloads/busy.h
UNWIND_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -Wall
UNWIND_PLAIN := roots chain handled recursing realigned loading threads spawning mapped jitted brief
UNWIND_BIN := $(addprefix $(UNWIND_OUT)/uw-,$(UNWIND_PLAIN) static staticpie stripped throwing bare \
	calling linked ends starting starting-cut) \
	$(addprefix $(UNWIND_OUT)/libuw-,plugin.so other.so tiny.so)
UNWIND_BIN += $(if $(shell command -v go || ls /usr/local/go/bin/go 2>/dev/null),$(UNWIND_OUT)/uw-go)
UNWIND_BIN += $(if $(shell command -v rustc),$(UNWIND_OUT)/uw-rust)

unwind-workloads: $(UNWIND_BIN)
workloads: unwind-workloads

$(UNWIND_OUT)/uw-%: $(UNWIND_SRC)/%.c $(UNWIND_HEADERS)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(UNWIND_CFLAGS) $(UNWIND_MORE) -o $@ $< $(UNWIND_LIBS)

$(UNWIND_OUT)/uw-static: UNWIND_MORE := -static
$(UNWIND_OUT)/uw-staticpie: UNWIND_MORE := -static-pie -fPIE
$(UNWIND_OUT)/uw-stripped: UNWIND_MORE := -s
$(UNWIND_OUT)/uw-static $(UNWIND_OUT)/uw-staticpie $(UNWIND_OUT)/uw-stripped: $(UNWIND_SRC)/chain.c \
		$(UNWIND_HEADERS)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(UNWIND_CFLAGS) $(UNWIND_MORE) -o $@ $<

$(UNWIND_OUT)/uw-bare: UNWIND_MORE := -fno-asynchronous-unwind-tables -fno-unwind-tables \
	-fno-omit-frame-pointer
$(UNWIND_OUT)/uw-calling: UNWIND_MORE := -Wl,-z,lazy
$(UNWIND_OUT)/uw-calling: UNWIND_LIBS := -L$(UNWIND_OUT) -luw-tiny -Wl,-rpath,'$$ORIGIN'
$(UNWIND_OUT)/uw-calling: $(UNWIND_OUT)/libuw-tiny.so
$(UNWIND_OUT)/uw-linked: UNWIND_LIBS := -L$(UNWIND_OUT) -luw-plugin -Wl,-rpath,'$$ORIGIN'
$(UNWIND_OUT)/uw-linked: $(UNWIND_OUT)/libuw-plugin.so

# Stripped: only where it stands tells what the first frame is.
$(UNWIND_OUT)/uw-starting $(UNWIND_OUT)/uw-starting-cut: $(UNWIND_SRC)/starting.S
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) -nostdlib -static -s $(if $(findstring cut,$@),-DCUT) -o $@ $<

$(UNWIND_OUT)/uw-throwing: $(UNWIND_SRC)/throwing.cc $(UNWIND_HEADERS)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CXX) -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -Wall -o $@ $<

$(UNWIND_OUT)/libuw-%.so: $(UNWIND_SRC)/%.c $(UNWIND_HEADERS)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(UNWIND_CFLAGS) -fPIC -shared -Wl,-z,lazy -o $@ $<

# The same code as another file, at other addresses.
$(UNWIND_OUT)/libuw-other.so: $(UNWIND_SRC)/plugin.c $(UNWIND_HEADERS)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(UNWIND_CFLAGS) -Os -fPIC -shared -o $@ $<

$(UNWIND_OUT)/uw-go: $(UNWIND_SRC)/goroutines.go
	@mkdir -p $(@D)
	$(call say,GO)
	$(Q)PATH="$$PATH:/usr/local/go/bin" GOFLAGS= GO111MODULE=off go build -o $@ $<

$(UNWIND_OUT)/uw-rust: $(UNWIND_SRC)/rusty.rs
	@mkdir -p $(@D)
	$(call say,RUSTC)
	$(Q)MAKEFLAGS= rustc -O -C force-frame-pointers=no -o $@ $<

.PHONY: unwind-workloads
