# Two commands matter to a newcomer: `make demo` and `make test`. Both set everything up and are safe to repeat.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
# What the demo needs (with TORCH, also what local models need), and with it what tests and linters need.
RUNTIME := $(VENV)/.runtime-ready
READY := $(VENV)/.ready
# torch's build: auto, what fits the machine; cpu, cu128 and the like; or none (scripts/install.sh). It is remembered. Left
# out, the demo is installed without models, and tests with the build that fits the machine.
TORCH ?= $(shell cat $(RUNTIME) 2>/dev/null)

# Tests and the demo start dozens of processes: with it, each would compile every library anew, for minutes in all.
unexport PYTHONDONTWRITEBYTECODE

LINT := $(BIN)/ruff check . && $(BIN)/ruff format --check . && scripts/check_project.sh

.PHONY: demo test test-all test-browser test-vllm lint format bench docs setup clean-demo

demo: $(RUNTIME) assay.env
	@PORT=$(PORT) exec $(BIN)/python scripts/demo.py

# Beside the linters every module is compiled once, which each of the processes that run tests would do anew; and tables are
# made, for which they would wait.
test: setup
	@$(BIN)/python -m pytest -q --collect-only >/dev/null & $(LINT) && $(BIN)/python -m tests.own_database && wait
	$(BIN)/python -m pytest -n 3 --dist loadfile -m "not slow and not browser" --ignore tests/test_architecture.py --ignore tests/test_kinds_by_name.py

# What .ci/run leaves out: simulated studies, papers' sizes, whole journeys, vLLM, the rest on PostgreSQL. About an hour.
test-all: setup
	.ci/run rest

# The pages in a real Chromium, where there is one.
test-browser: setup
	$(BIN)/python -m pytest -n 4 --dist loadfile -m "browser and not slow"

# Everything that asks a language model, through a real vLLM on the CPU. VLLM_ENV=/path uses an environment that has it already.
test-vllm: setup
	@scripts/vllm_env.sh
	VLLM_ENV=$(or $(VLLM_ENV),.venv-vllm) $(BIN)/python -m pytest -m slow tests/llm

lint: setup
	@$(LINT)

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup
	$(BIN)/python -m benchmarks $(ARGS)

# The documentation as a site, in site/; strict: a link that leads nowhere fails.
docs: setup
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=. $(BIN)/python -m mkdocs build --clean --quiet

setup: $(READY) assay.env

# Another build than the one that is there.
ifneq ($(TORCH),$(shell cat $(RUNTIME) 2>/dev/null))
.PHONY: $(RUNTIME)
endif

$(RUNTIME): requirements.txt requirements-formats.txt requirements-checkers.txt
	@PYTHON="$(PYTHON)" TORCH="$(TORCH)" scripts/install.sh runtime
	@echo "$(TORCH)" > $@

$(READY): $(RUNTIME) $(wildcard requirements-*.txt)
	@TORCH="$(TORCH)" scripts/install.sh dev
	@touch $@

# A key, and the data folder for commands in this folder: the demo's. Not read where ASSAY_SECRET_KEY is set.
assay.env:
	@test -n "$$ASSAY_SECRET_KEY" || { umask 077 && key=$$($(PYTHON) -c 'import secrets; print(secrets.token_urlsafe(50))') && \
		printf '# For commands in this folder; ignored where ASSAY_SECRET_KEY is set.\nASSAY_SECRET_KEY=%s\nASSAY_DATA_DIR=var/demo\n' "$$key" > $@.new && \
		mv $@.new $@; }

clean-demo:
	rm -rf var/demo
