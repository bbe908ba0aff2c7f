# Two commands do everything on a machine with python3 (3.11 or newer) and make:
#   make claims K=itl    venv, install, run the claims that match K, write the ledger, print the table
#   make test            venv, install, tests, fast claims, lint, types
PYTHON ?= python3
VENV ?= .venv
K ?=
TIER ?= standard
# Another package index for a CPU build of torch, where PyPI's build is too large: TORCH_INDEX=<address>.
TORCH_INDEX ?=

# One thread everywhere: a ratio measured on two threads says as much about the neighbours as about the code.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints/pinned.txt \
       $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
EXTRAS = $(shell $(PYTHON) constraints/extras.py "$(K)")

.PHONY: claims test lint types bench clean
.DELETE_ON_ERROR:

claims: $(BIN)/python
	$(PIP) -e ".[$(EXTRAS)]"
	$(BIN)/python -m pytest claims/ --tier $(TIER) $(if $(K),-k "$(K)")

test: $(BIN)/python
	$(PIP) -e ".[$(shell $(PYTHON) constraints/extras.py ""),dev]"
	$(MAKE) --no-print-directory lint types
	$(BIN)/python -m pytest tests/
	$(BIN)/python -m pytest claims/ --tier fast

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types:
	$(BIN)/mypy

# Speeds of the implementations themselves; they are kept apart from tests and claims.
bench: $(BIN)/python
	$(PIP) -e ".[$(EXTRAS),dev]"
	$(BIN)/python -m pytest benchmarks/ -o python_files="bench_*.py" --benchmark-columns=min,median,max,rounds

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "runtwice needs Python 3.11 or newer, this is " + sys.version)'
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
