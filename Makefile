# make demo: train a small model on two ranks, profile it, and show where the time went.
# make test: style, types and all tests. Both make the virtual environment and install what they need.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
TORCH ?= torch==2.13.0
DEMO_OUT ?= demo_out

.DEFAULT_GOAL := help
.PHONY: help demo test lint types catalog facts system clean

help: ## say what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable . numpy "$(TORCH)"
	touch $@

$(VENV)/.development: pyproject.toml $(VENV)/.runtime
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

demo: $(VENV)/.runtime ## train, profile and analyse a small model on two CPU ranks
	rm -rf $(DEMO_OUT)
	$(BIN)/python examples/demo/train.py --out $(DEMO_OUT)/profile
	$(BIN)/trainwright ingest $(DEMO_OUT)/profile
	$(BIN)/trainwright analyze $(DEMO_OUT)/profile --html $(DEMO_OUT)/report.html

test: $(VENV)/.development system lint types ## everything that must pass
	$(BIN)/python -m pytest

lint: $(VENV)/.development
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.development
	$(BIN)/mypy

catalog: $(VENV)/.development ## write docs/catalog.md out of the declarations
	$(BIN)/trainwright catalog --markdown > docs/catalog.md

facts: $(VENV)/.runtime ## remake the tables about the NPU out of the published ones: make facts FACTS=DIR
	@test -n "$(FACTS)" || { echo "say where the published tables are: make facts FACTS=DIR"; exit 2; }
	$(BIN)/python -m trainwright.knowledge.build --facts "$(FACTS)" --torch-aliases

system: ## Chromium for the browser tests, where this user may install it
	@if [ -x /usr/bin/chromium ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium >/dev/null; \
	else echo "Chromium is missing and cannot be installed by this user: browser tests will be skipped"; fi

clean: ## remove what this file made
	rm -rf $(VENV) $(DEMO_OUT)
