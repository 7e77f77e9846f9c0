# Two commands matter to a newcomer: `make demo` and `make test`. Both set everything up and are safe to repeat.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
STAMP := $(VENV)/.ready

# Tests and the demo start dozens of processes: with it, each would compile every library anew, for minutes in all.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-vllm lint format bench setup clean-demo

demo: setup
	@PORT=$(PORT) exec scripts/demo.sh

test: setup lint
	$(BIN)/python -m pytest -n 3 --dist loadfile -m "not slow" --ignore tests/test_architecture.py

# Everything that asks a language model, through a real vLLM on the CPU. VLLM_ENV=/path uses an environment that has it already.
test-vllm: setup
	@scripts/vllm_env.sh
	VLLM_ENV=$(or $(VLLM_ENV),.venv-vllm) $(BIN)/python -m pytest -m slow tests/llm

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@scripts/check_project.sh

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup
	$(BIN)/python -m benchmarks $(ARGS)

setup: $(STAMP)

# torch comes first and alone: what depends on it must find it installed, or gigabytes of CUDA libraries follow.
$(STAMP): requirements-torch.txt requirements.txt requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Assay needs Python 3.11 or newer; set PYTHON=..." >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing packages into $(VENV) (about a minute the first time) ..."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements-torch.txt
	@$(BIN)/python -m pip install -qq --disable-pip-version-check uv==0.13.8
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -r requirements.txt -r requirements-dev.txt
	@touch $@

clean-demo:
	rm -rf var/demo
