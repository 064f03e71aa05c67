# `make demo` and `make test` set up .venv by themselves; everything else builds on those two.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
BASE   := $(VENV)/.installed
DEV    := $(VENV)/.installed-dev
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# As pip does with what it copies: without bytecode every process would compile 800 files.
COMPILE := $(BIN)/python -m compileall -q src

.PHONY: demo test test-keras test-versions format bench reference docs wheel coverage clean

demo: $(BASE)
	$(BIN)/python examples/demo.py

test: $(DEV)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy src/weft
	$(BIN)/pytest -n 2
	$(BIN)/python checks/keras_suite.py --fast

# Keras' own tests, all of them: a quarter of an hour.
test-keras: $(DEV)
	$(BIN)/python checks/keras_suite.py

# On every Python that is found, with the newest and the oldest libraries; half an hour and more.
test-versions:
	$(PYTHON) checks/versions.py $(VERSIONS)

format: $(DEV)
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: $(BASE)
	$(BIN)/python -m benchmarks

reference: $(BASE)
	$(BIN)/python docs/generate_reference.py

# The documentation as a site, in site/; every warning is an error.
docs: $(DEV)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# A wheel, installed and used in an empty environment.
wheel: $(BASE)
	$(BIN)/python checks/wheel.py

# Which lines the tests run, as pages in build/coverage; it takes three times as long as the tests.
coverage: $(DEV)
	$(BIN)/pytest -n 2 --cov=weft --cov-report=html:build/coverage --cov-report=term:skip-covered

clean:
	rm -rf $(VENV) .venv-versions build dist demo site .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests examples benchmarks checks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The venv is an order-only prerequisite: its python is a link whose date says nothing.
$(BASE): pyproject.toml | $(BIN)/python
	$(PIP) --editable ".[demo]"
	$(COMPILE)
	touch $@

$(DEV): pyproject.toml | $(BIN)/python
	$(PIP) --editable ".[dev]"
	$(COMPILE)
	touch $(BASE) $@
