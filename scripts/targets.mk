# Targets that people type; every one has its help behind "##".
.DEFAULT_GOAL := all

help: ## print this list
	@sed -nE 's/^([a-z][a-z-]*):.*## (.*)/\1\t\2/p' Makefile scripts/targets.mk | expand -t 16

clean: ## remove the build directory
	rm -rf $(BUILD)

.PHONY: help clean
