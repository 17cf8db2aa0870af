# Everything runs from the checkout with relative paths and `python -m`, so a path with a
# space in it is fine. Overridable: PYTHON= (3.11 or newer), PORT=, CHROMIUM=, DATA=, ARGS=.

PORT ?= 8501
PY := .venv/bin/python
INSTALL := sh scripts/install.sh
# What the first minute loads: uv leaves it as source, and a page would wait for each module.
FIRST_LOADED := altair jsonschema llvmlite narwhals numba numpy pandas starlette streamlit

# A server of days: memory of arrays goes back to the system when they end (glibc's `mallopt`).
LARGE_ARRAYS := MALLOC_MMAP_THRESHOLD_=1048576

# Whatever the surroundings say: each of the many processes of the tests would compile all it loads.
unexport PYTHONDONTWRITEBYTECODE
# As the command line and the dashboard do: threads of BLAS wait for each other longer than they
# multiply.
export OPENBLAS_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: help run test test-long test-spark check docs lint types imports map coverage bench format clean dev chromium

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

# The environment's Python finds the core from every folder, as an exported recipe needs it.
run: .venv/runtime.stamp ## start the dashboard and print its address (PORT=8501)
	@$(PY) scripts/find_core.py
	@$(PY) scripts/fetch_sample.py
	@exec env $(LARGE_ARRAYS) $(PY) -m anonymity_workbench serve --port "$(PORT)"

# Loops are compiled once, before; else each process of the tests compiles them. One process more
# than processors, as each waits a fifth of its time for programs it has started. What drives browsers
# runs after the others, two at a time with a server each: next to them pages wait too long for
# a patient test, and nothing ends sooner.
test: dev chromium ## run every test, browser tests included (ARGS= goes to one pytest)
	@$(PY) scripts/fetch_sample.py
ifdef ARGS
	@CHROMIUM="$$(sh scripts/chromium.sh)" $(PY) -m pytest $(ARGS)
else
	@$(PY) -m scripts.compile_loops
	@$(PY) -m pytest -n "$$(($$(getconf _NPROCESSORS_ONLN) + 1))" --dist loadfile -m "not long" --ignore=tests/e2e
	@CHROMIUM="$$(sh scripts/chromium.sh)" $(PY) -m pytest -n 2 --dist loadfile -m "not long" tests/e2e
endif

test-long: dev chromium ## run the tests that take too long for every change (ARGS= goes to pytest)
	@$(PY) scripts/fetch_sample.py
	@CHROMIUM="$$(sh scripts/chromium.sh)" TEST_LONG=1 $(PY) -m pytest -m "long or often" $(ARGS)

test-spark: .venv/spark.stamp ## run the tests of Spark, which needs Java 17 (ARGS= goes to pytest)
	@TEST_SPARK=1 $(PY) -m pytest -m spark $(ARGS)

check: lint types imports test ## format, lint, types, import rules, then every test

docs: dev ## build the documentation into .cache/site
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet
	@echo "Open .cache/site/index.html"

lint: dev ## formatting and lint rules, nothing is changed
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .

types: dev ## strict types of the code (not of the tests)
	@$(PY) -m basedpyright --pythonpath "$(CURDIR)/$(PY)"

imports: dev ## who may import whom
	@$(PY) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()' --no-logo

map: .venv/python.stamp ## every module with the first line of its docstring, by folder
	@$(PY) scripts/module_map.py

# Compiled kernels can't be traced, so their tests run a second time uncompiled.
coverage: dev ## measure what the tests reach, browser tests aside
	@$(PY) scripts/fetch_sample.py
	@$(PY) -m pytest -q -m "not long" --ignore=tests/e2e --cov --cov-report=
	@NUMBA_DISABLE_JIT=1 $(PY) -m pytest -q -m kernels --cov --cov-append --cov-report=
	@$(PY) -m coverage report

bench: dev ## measure speed (DATA=path brings your own table)
	@$(PY) scripts/fetch_sample.py
	@$(PY) -m benchmarks $(if $(DATA),--data "$(DATA)") $(ARGS)

format: dev ## rewrite the code in the project's format
	@$(PY) -m ruff check --fix-only --quiet .
	@$(PY) -m ruff format .

clean: ## remove everything that was built, the environment included
	@rm -rf .venv .cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@rm -rf .coverage htmlcov test-results
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

dev: .venv/dev.stamp

chromium:
	@sh scripts/chromium.sh > /dev/null

# An environment whose Python has gone, or has become another one, is made again.
$(shell [ ! -d .venv ] || $(PY) -c 'import pip' 2> /dev/null || rm -f .venv/*.stamp)

.venv/python.stamp:
	@sh scripts/venv.sh "$(PYTHON)"
	@touch $@

.venv/runtime.stamp: .venv/python.stamp requirements.txt constraints.txt
	@echo "Installing what the workbench needs (up to a minute the first time) ..."
	@$(INSTALL) -r requirements.txt
	@$(PY) -m compileall -q -j 2 anon_core anonymity_workbench ui pages app.py
	@cd .venv/lib/python3*/site-packages && "$(CURDIR)/$(PY)" -m compileall -q -j 2 -x '/tests?/' \
	  $(FIRST_LOADED)
	@touch $@

.venv/spark.stamp: .venv/dev.stamp requirements-spark.txt
	@command -v java > /dev/null || { \
	  echo "Java 17 is missing: apt-get install openjdk-17-jre-headless"; exit 1; }
	@echo "Installing Spark …"
	@$(INSTALL) -r requirements-spark.txt
	@touch $@

.venv/dev.stamp: .venv/runtime.stamp requirements-dev.txt
	@echo "Installing what tests and checks need ..."
	@$(INSTALL) -r requirements-dev.txt
	@touch $@
