# Two commands do everything on a machine with python3 (3.11 or newer) and make:
#   make claims K=itl    venv, install, run the claims that match K, write the ledger, print the table
#   make claims MACHINE=no-avx    the same as a processor without AVX2 and AVX-512 would have it, into its own ledger
#   make test            venv, install, tests, fast claims, lint, types
PYTHON ?= python3
VENV ?= .venv
K ?=
TIER ?= standard
# Processes for what is repeated over seeds; what is timed still runs alone.
WORKERS ?=
# Another package index for a CPU build of torch, where PyPI's build is too large: TORCH_INDEX=<address>.
TORCH_INDEX ?=
# Another machine on this one: environment variables that change what NumPy makes of the processor.
MACHINE ?=

# One thread everywhere: a ratio measured on two threads says as much about the neighbours as about the code.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

ifeq ($(MACHINE),no-avx)
# A release of NumPy that does not know one of these names says so and goes on.
export NPY_DISABLE_CPU_FEATURES := AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4 X86_V3
else ifneq ($(MACHINE),)
$(error MACHINE=$(MACHINE) is not known; the only one is no-avx)
endif
LEDGER = $(if $(MACHINE),--ledger reports/local/$(MACHINE).json)

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints/pinned.txt \
       $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
EXTRAS = $(shell $(PYTHON) constraints/extras.py "$(K)")

.PHONY: claims test upgrades lint types bench clean
.DELETE_ON_ERROR:

claims: $(BIN)/python
	$(PIP) -e ".[$(EXTRAS)]"
	$(BIN)/python -m pytest claims/ --tier $(TIER) $(LEDGER) $(if $(WORKERS),--workers $(WORKERS)) $(if $(K),-k "$(K)")

test: $(BIN)/python
	$(PIP) -e ".[$(shell $(PYTHON) constraints/extras.py ""),dev]"
	$(MAKE) --no-print-directory lint types
	$(BIN)/python -m pytest tests/
	$(BIN)/python -m pytest claims/ --tier fast

# Known releases that moved a number, found again by bisection; builds dozens of environments (Python 3.11 or 3.12).
upgrades: $(BIN)/python
	$(PIP) -e ".[dev]"
	$(BIN)/python -m pytest tests/upgrades/ --upgrades -v

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
