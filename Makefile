# make lab     sets everything up and opens the course in JupyterLab
# make test    sets everything up and passes all tests
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: setup lab test test-long course demo lint lock

setup: $(READY)

$(READY): pyproject.toml requirements.lock
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock --editable '.[dev]'
	$(BIN)/specdec-lab models fetch
	@touch $@

lab: setup
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) notebooks/00_start_here.ipynb

test: setup lint
	$(BIN)/pytest -m 'not long'

test-long: setup
	$(BIN)/pytest -m long

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

course: setup
	$(BIN)/python -m tests.notebooks.execute notebooks/*.ipynb

demo: setup
	$(BIN)/specdec-lab generate --prompt 'Write a Python function that reverses a list, with a docstring and a test.' --max-new-tokens 96

lock: setup
	$(BIN)/python -m pip freeze --exclude-editable | sed 's/^torch==\([0-9.]*\).*/torch==\1/' > requirements.lock
