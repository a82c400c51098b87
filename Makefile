# Everything a fresh checkout needs. `make` lists the targets; `make demo` and `make test` set up what is missing.

PYTHON ?= python3
VENV   ?= .venv
DEMO   ?= demo
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
# Processors for tests.
JOBS   ?= 2
# uv knows certificates by another name than pip.
ifdef PIP_CERT
export SSL_CERT_FILE ?= $(PIP_CERT)
endif

.DEFAULT_GOAL := help
.PHONY: help demo docs wheel pipelines notebooks test truth thorough fuzz test-fast test-lowest test-newest lock lint style types types-windows format bench clean system-tools

help: ## Say what can be made
	@echo "make TARGET, where TARGET is one of"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

# ── environment ──────────────────────────────────────────────────────────────────────────────────────
# Each stamp is newer than pyproject.toml once its packages are installed, so the second call is quick.

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "discreet needs Python 3.11 or newer; found: $$($(PYTHON) --version 2>&1)" >&2; \
	  echo "  → name another one, e.g. make PYTHON=python3.12 demo" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "this Python cannot make virtual environments" >&2; \
	  echo "  → apt-get install python3-venv python3-pip" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "  → apt-get install python3-venv python3-pip" >&2; exit 1; }
	@echo "Installing into $(VENV) (the first time takes a minute) …"
	@$(PIP) install --quiet --upgrade pip

# Without isolation: what compiles the loops of a wheel is not needed here.
$(VENV)/.demo-stamp: pyproject.toml | $(BIN)/python
	@$(PIP) install --quiet hatchling editables
	@$(PIP) install --quiet --no-build-isolation --editable '.[identifiers]'
	@touch $@

# What is tested is what locked.txt says, file by file; discreet itself is built by what stands there, too.
$(VENV)/.test-stamp: pyproject.toml locked.txt | $(BIN)/python
	@$(PIP) install --quiet --require-hashes --requirement locked.txt
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/.demo-stamp

# ── what people call ─────────────────────────────────────────────────────────────────────────────────

demo: $(VENV)/.demo-stamp ## Audit and anonymise the made-up town in demo/ and write HTML reports
	@$(BIN)/discreet example $(DEMO) $(if $(PEOPLE),--people $(PEOPLE))
	@$(BIN)/discreet suggest $(DEMO)/residents.csv -o $(DEMO)/policy.toml --force
	@$(BIN)/discreet audit $(DEMO)/residents.csv --policy $(DEMO)/policy.toml --report $(DEMO)/report.html
	@echo
	@$(BIN)/discreet audit $(DEMO)/visits.csv --brief --report $(DEMO)/visits-report.html
	@echo
	@$(BIN)/discreet anonymize $(DEMO)/residents.csv --policy $(DEMO)/policy.toml \
	  --output $(DEMO)/residents-release.csv --report $(DEMO)/release-report.html --links $(DEMO)/secret-links.csv
	@echo
	@$(BIN)/discreet compare $(DEMO)/residents.csv $(DEMO)/residents-release.csv --policy $(DEMO)/policy.toml \
	  --labels "" --links $(DEMO)/secret-links.csv --report $(DEMO)/evidence.html
	@echo
	@echo "Reports were written. Open them in a browser:"
	@echo "  $(abspath $(DEMO))/report.html"
	@echo "      the residents, one row per person: why they may not be released"
	@echo "  $(abspath $(DEMO))/visits-report.html"
	@echo "      their visits to doctors, several rows per person"
	@echo "  $(abspath $(DEMO))/release-report.html"
	@echo "      the residents after the least change that makes them releasable"
	@echo "  $(abspath $(DEMO))/evidence.html"
	@echo "      what that change lost, and what an intruder could still do"

# Tests start many processes: without bytecode on disk each of them would compile the whole package anew.
test test-fast test-lowest test-newest truth thorough fuzz: export PYTHONDONTWRITEBYTECODE :=

# Without the plugin of a tool that only tests/web needs: it takes a second to import, in every process.
QUICK = -p no:schemathesis --hypothesis-profile fast -m "not spark and not browser and not slow and not walk" \
  tests/unit tests/property tests/docs src

# One more than there are processors: workers wait for Java, Chromium, servers and commands that are killed.
test: $(VENV)/.test-stamp system-tools ## Run every test but long walks, doctests and documentation included
	$(BIN)/python -m pytest -n $$(($(JOBS) + 1)) --dist worksteal -m "not walk"

test-fast: $(VENV)/.test-stamp ## Run what is quick: units, properties on few examples; no Spark, no browser
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(QUICK)

# The quick tests in an environment of their own: $(1) is its name, $(2) which versions of every dependency it has.
define test_with
@$(PIP) install --quiet uv
@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-$(1)
@$(BIN)/uv pip install --quiet --python .venv-$(1)/bin/python --resolution $(2) --editable '.[all]' --group test
.venv-$(1)/bin/python -m pytest -n $(JOBS) --dist worksteal $(QUICK)
endef

test-lowest: | $(BIN)/python ## Run the quick tests with the lowest version of every dependency that pyproject.toml allows
	$(call test_with,lowest,lowest-direct)

test-newest: | $(BIN)/python ## Run the quick tests with the newest version of every dependency
	$(call test_with,newest,highest)

lock: $(BIN)/python ## Find out anew which versions locked.txt holds (UPGRADE=1: the newest ones)
	@$(PIP) install --quiet uv
	$(BIN)/python tools/lock.py $(if $(UPGRADE),--upgrade)

truth: $(VENV)/.test-stamp ## Compare audits, losses and attacks of N random tables with plain loops (N=1000)
	DISCREET_TRUTH=$(or $(N),1000) $(BIN)/python -m pytest -q -n $(JOBS) tests/truth

thorough: $(VENV)/.test-stamp ## Try the properties on thirty times as many examples as make test does, walk through the page with large files, release every table at hand, lose a worker of Spark
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --hypothesis-profile thorough -m "not slow and not walk" \
	  tests/property tests/unit
	$(BIN)/python -m pytest -n $(JOBS) --hypothesis-profile thorough -m slow tests/unit/test_mechanisms.py
	$(BIN)/python -m pytest -m walk tests/web tests/contract tests/property

fuzz: $(VENV)/.test-stamp ## Try N random releases, odd tables, broken files and random requests from SEED on (N=1000 SEED=1); goes on where it was
	$(BIN)/python tests/fuzz/fuzz.py $(KIND) --count $(or $(N),1000) --seed $(or $(SEED),1)

wheel: ## Build the wheel and use it as a stranger would, in an environment of its own
	PYTHON=$(PYTHON) bash tools/wheel.sh

pipelines: ## Run the examples for dbt, Dagster and Airflow, each in an environment of its own
	PYTHON=$(PYTHON) bash tools/pipelines.sh

notebooks: $(VENV)/.test-stamp ## Run the gallery's pages as notebooks, in an environment of its own, and keep what they print
	@$(PIP) install --quiet uv
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-notebooks
	@$(BIN)/uv pip install --quiet --python .venv-notebooks/bin/python --editable '.[ml]' pandas nbclient nbformat ipykernel
	.venv-notebooks/bin/python tools/notebooks.py

docs: $(VENV)/.test-stamp ## Make a site of the documentation in docs/site; every warning, and every link that leads nowhere, is an error
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --builder html docs docs/site
	$(BIN)/python tools/site_links.py docs/site
	@echo "Open docs/site/index.html in a browser."

# With -j both checks of types run at once: each has a cache of its own.
lint: style types types-windows ## Check style, format and types

style: $(VENV)/.test-stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test-stamp
	$(BIN)/mypy

types-windows: $(VENV)/.test-stamp
	$(BIN)/mypy --platform win32 --no-warn-unreachable --cache-dir .mypy_cache/windows

format: $(VENV)/.test-stamp ## Put the code into its format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test-stamp ## Measure speed and memory (see docs/performance.md)
	$(BIN)/python benchmarks/audit.py
	$(BIN)/python benchmarks/anonymize.py
	$(BIN)/python benchmarks/evidence.py

clean: ## Remove everything that make has made
	rm -rf $(VENV) .venv-lowest .venv-newest .venv-notebooks $(DEMO) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf spark-warehouse metastore_db derby.log src/*.egg-info
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# ── programs besides Python ──────────────────────────────────────────────────────────────────────────
# Chromium opens the reports in a test, Java runs Spark. Without them these tests are skipped, or fail if CI is set.

system-tools:
	@missing=""; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	command -v java >/dev/null || missing="$$missing openjdk-17-jre-headless"; \
	{ command -v initdb || ls /usr/lib/postgresql/*/bin/initdb; } >/dev/null 2>&1 || missing="$$missing postgresql"; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then run=""; \
	elif [ "$$(id -u)" = 0 ]; then run="env DEBIAN_FRONTEND=noninteractive"; \
	elif sudo -n true 2>/dev/null; then run="sudo -n env DEBIAN_FRONTEND=noninteractive"; \
	else run=""; fi; \
	if [ -n "$$run" ]; then \
	  echo "Installing$$missing …"; \
	  $$run apt-get -qq update && $$run apt-get -qq install -y --no-install-recommends $$missing >/dev/null && exit 0; \
	fi; \
	echo "not installed:$$missing; the tests that need them will be skipped (with CI set they fail)" >&2; \
	echo "  → as root: apt-get update && apt-get install -y$$missing" >&2
