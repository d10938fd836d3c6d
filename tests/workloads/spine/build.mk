# The programs of the completeness suite: Java of release 8, so that every JDK of the matrix can run
# it, a Java agent, and a JNI library without frame pointers.

SPINE_SRC := tests/workloads/spine
SPINE_OUT := $(BUILD)/workloads/spine

spine-workloads: $(SPINE_OUT)/Spine.class $(SPINE_OUT)/again.jar $(SPINE_OUT)/libspine.so
workloads: spine-workloads

$(SPINE_OUT)/Spine.class: $(wildcard $(SPINE_SRC)/*.java)
	@mkdir -p $(@D)
	$(call say,JAVAC)
	$(Q)$(JAVA_HOME_BUILD)/bin/javac -nowarn --release 8 -d $(SPINE_OUT) $^ 2>&1 | \
		{ grep -v '^warning\|^[0-9]* warning' || true; }
	@test -f $@

# Its classes come from the class path, as those that it changes do.
$(SPINE_OUT)/again.jar: $(SPINE_OUT)/Spine.class
	$(call say,JAR)
	$(Q)printf 'Premain-Class: Again\nCan-Retransform-Classes: true\n' > $(SPINE_OUT)/again.mf
	$(Q)$(JAVA_HOME_BUILD)/bin/jar cfm $@ $(SPINE_OUT)/again.mf -C $(SPINE_OUT) Again.class

$(SPINE_OUT)/libspine.so: $(SPINE_SRC)/spine.c
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls \
		-Wall -Wextra -fPIC -shared -fvisibility=hidden -isystem $(JAVA_HOME_BUILD)/include \
		-isystem $(JAVA_HOME_BUILD)/include/linux -o $@ $<

.PHONY: spine-workloads
