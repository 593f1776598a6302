# Every target is one line over a script. `make help` lists them.
PYTHON ?= python3
VENV ?= .venv
PY = $(VENV)/bin/python
export VENV
# The question as it was typed: quotes, dollars and line breaks arrive intact.
export PALACE_QUESTION := $(value Q)
# Make would expand Q itself for the environment, and run a $(shell …) in it.
unexport Q

.DEFAULT_GOAL := help
.PHONY: help setup setup-bge setup-mcp setup-dev query index graph doctor test lint bench

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s%s\n", $$1, $$2}' Makefile

query: $(VENV)/.core ## Q="words" [ARGS="--details"]: ask the palace
	@$(PY) scripts/query_bge.py $(ARGS) -- "$$PALACE_QUESTION"

index: $(VENV)/.core ## [ARGS="--check"]: bring the index up to date
	@$(PY) scripts/build_index_bge.py $(ARGS)

graph: $(VENV)/.core ## [ARGS="--backlinks"]: the graph of [[links]] as JSON
	@$(PY) scripts/graph_router.py $(ARGS)

doctor: $(VENV)/.core ## what is installed, what is wrong, what to run
	@$(PY) scripts/palace.py doctor $(ARGS)

setup: ## install the toolkit with its embedded model
	@$(PYTHON) scripts/install.py core

setup-bge: ## install FlagEmbedding and torch, fetch BGE-M3 (2.3 GB)
	@$(PYTHON) scripts/install.py bge && $(PY) scripts/palace.py model download bge-m3

setup-mcp: ## install what serves the palace over MCP
	@$(PYTHON) scripts/install.py mcp

setup-dev: ## install what the tests need
	@$(PYTHON) scripts/install.py dev

test: $(VENV)/.dev ## install everything and run all tests
	@$(PY) -m pytest -n 2 --dist loadfile $(ARGS)

lint: $(VENV)/.dev ## style and types
	@$(PY) -m ruff check . && $(PY) -m ruff format --check . && $(PY) -m mypy

bench: $(VENV)/.core ## measure indexing and queries on a generated palace
	@$(PY) bench/index.py $(ARGS) && $(PY) bench/query.py $(ARGS)

$(VENV)/.core: requirements-core.txt pyproject.toml
	@$(PYTHON) scripts/install.py core

$(VENV)/.dev: requirements-dev.txt requirements.txt requirements-core.txt requirements-bge.txt \
		requirements-e5.txt requirements-milvus.txt requirements-mcp.txt \
		requirements-code.txt pyproject.toml
	@$(PYTHON) scripts/install.py dev
