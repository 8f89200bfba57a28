# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=

.PHONY: demo test slow lint docs bench clean

$(VENV)/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.tested: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test,gym,cluster,serial,zmq,vision,onnx]"
	touch $@

demo: $(VENV)/.installed
	$(BIN)/python examples/00_demo.py

# The workers would compile the same kernels at the same time: two processes compile them before, each its half.
test: $(VENV)/.tested
	$(BIN)/pliant warmup --share 1/2 & $(BIN)/pliant warmup --share 2/2; wait
	$(BIN)/python -m pytest -n 2 --dist loadscope $(PYTEST_ARGS)

slow: $(VENV)/.tested
	$(BIN)/python -m pytest -m slow $(PYTEST_ARGS)

lint: $(VENV)/.tested
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: $(VENV)/.tested
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	$(BIN)/python -m sphinx -W -b html docs docs/_build/html

bench: $(VENV)/.installed
	$(BIN)/pliant bench

clean:
	rm -rf $(VENV) out build docs/_build .pytest_cache .mypy_cache .ruff_cache
