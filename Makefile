# make lab     sets everything up and opens the course in JupyterLab
# make test    sets everything up and passes all tests
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
COLAB := .venv-colab

.NOTPARALLEL:
.PHONY: setup lab test test-long test-colab course demo bench-controls lint lock

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
	$(BIN)/pytest -m 'not long'

test-long: setup
	$(BIN)/pytest -m long

# The course on the packages that Colab brings, set up by the first cell of a notebook.
test-colab: $(COLAB)/ready
	$(COLAB)/bin/python tests/colab/run.py

$(COLAB)/ready: tests/colab/requirements.txt
	rm -rf $(COLAB)
	$(PYTHON) -m venv $(COLAB)
	$(COLAB)/bin/python -m pip install --disable-pip-version-check --quiet --requirement $<
	$(COLAB)/bin/python -m pip freeze --all > $@.new && mv $@.new $@

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
	$(BIN)/python -m tools.notebooks execute --cells --limit-gib 6 --limit-seconds 720 notebooks/*.ipynb

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
