# Everything starts here: `make demo` and `make test` build what they need.

.SILENT:

# The first of some interpreters that runs and can make an environment.
first_of = $(shell for candidate in $(1); do \
	$$candidate -m ensurepip --version >/dev/null 2>&1 && command -v $$candidate && break; done)
PYTHON ?= $(or $(call first_of,python3.11 python3.12 python3.13),$(error \
	None of python3.11, python3.12 and python3.13 runs here with the module venv: install one, or \
	name one by PYTHON=/path/to/python))
CLASSIC_PYTHON ?= $(call first_of,python3.10 python3.9)
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)
CLASSIC := .venv-classic
COMPILED := $(shell find allennlp_sentmatch -name "*.cpp" -o -name "*.h")
# allennlp-models is kept beside the environment: AllenNLP loads it in every command when it can.
WITH_MODELS := PYTHONPATH=$(CURDIR)/$(VENV)/beside
# The tests' tensors are tiny: more threads would only wait for each other.
ONE_THREAD := OMP_NUM_THREADS=1
TESTS ?= tests

.PHONY: help install install-extras demo test test-slow test-browser test-portable test-mutations \
	test-classic lint format docs docs-version experiments benchmark gpu clean

help:  ## Show this list
	grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

install: $(VENV)/.installed  ## Build .venv with current versions and this package

$(VENV)/.installed: requirements/today.txt requirements/constraints-today.txt \
		allennlp_sentmatch/installation.py allennlp_sentmatch/site_packages/allennlp_torch_support.py \
		pyproject.toml setup.py $(COMPILED)
	echo "== Building $(VENV): AllenNLP 2.10.1 and torch 2.13 on $(PYTHON) (once; 2 to 6 minutes)"
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) -r requirements/today.txt -c requirements/constraints-today.txt
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	$(BIN)/python -m allennlp_sentmatch install-allennlp \
		--constraint requirements/constraints-today.txt
	touch $@

install-extras: $(VENV)/.installed-extras  ## Add all optional packages (search, plots, serving, Ray, tuning, metrics)

$(VENV)/.installed-extras: $(VENV)/.installed requirements/extras.txt
	echo "== Adding the extras"
	$(PIP_INSTALL) -r requirements/extras.txt -c requirements/constraints-today.txt
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed-extras requirements/test.txt
	echo "== Adding what the tests need"
	$(PIP_INSTALL) -r requirements/test.txt -c requirements/constraints-today.txt
	$(PIP_INSTALL) --no-deps --upgrade --target $(VENV)/beside allennlp-models==2.10.1
	touch $@

$(VENV)/.installed-benchmark: $(VENV)/.installed-test requirements/benchmark.txt
	$(PIP_INSTALL) -r requirements/benchmark.txt -c requirements/constraints-today.txt
	touch $@

demo: $(VENV)/.installed  ## Train, evaluate and use the quick-start model (1 to 5 minutes)
	$(BIN)/python -m scripts.demo

test: $(VENV)/.installed-test  ## Run the test suite
	echo "== Running the tests: $(JOBS) processes; on two cores this takes 4 to 9 minutes"
	$(ONE_THREAD) $(WITH_MODELS) $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal \
		-m "not slow and not browser" $(if $(CI),--durations=40) $(TESTS)

test-slow: $(VENV)/.installed-test  ## Run the tests that take long (TESTS="...")
	echo "== Running the slow tests"
	$(ONE_THREAD) $(WITH_MODELS) $(BIN)/python -m pytest -q -m slow $(TESTS)

test-browser: $(VENV)/.installed-test  ## Test the demo page in Chromium, if it is found (CHROMIUM=/path/to/it)
	echo "== Running the tests in a browser: Debian's package chromium, or Chromium or Chrome of another source"
	$(ONE_THREAD) $(BIN)/python -m pytest -q -m browser -rs

test-portable: $(VENV)/.installed-test  ## Run the tests with the instructions of other CPUs (over an hour; TESTS="...")
	$(WITH_MODELS) $(BIN)/python -m scripts.run_portable_tests $(TESTS)

test-mutations: $(VENV)/.installed-test $(VENV)/.installed-mutations  ## Mutate modules (MODULES="models/esim.py data" SAMPLE="--sample 20 --seed 1")
	$(ONE_THREAD) $(WITH_MODELS) $(BIN)/python -m scripts.mutate $(MODULES) $(SAMPLE) \
		--cosmic-ray $(VENV)/mutations/bin/cosmic-ray

$(VENV)/.installed-mutations: $(VENV)/.installed-test requirements/mutations.txt
	$(BIN)/python -m venv $(VENV)/mutations
	$(VENV)/mutations/bin/pip install -q -r requirements/mutations.txt
	touch $@

lint: $(VENV)/.installed-test  ## Check style (ruff), types (mypy) and density (scripts/readability.py)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m scripts.readability

format: $(VENV)/.installed-test  ## Rewrite the files in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test-classic:  ## Run the tests with AllenNLP's own pins, if Python 3.9 or 3.10 is found
ifeq ($(strip $(CLASSIC_PYTHON)),)
	echo "test-classic: skipped, no python3.10 or python3.9 runs here (set CLASSIC_PYTHON to one)"
else
	$(MAKE) --no-print-directory $(CLASSIC)/.installed
	$(ONE_THREAD) $(CLASSIC)/bin/python -m pytest -q -m "not slow and not browser"
endif

$(CLASSIC)/.installed: requirements/classic.txt pyproject.toml setup.py $(COMPILED)
	echo "== Building $(CLASSIC): AllenNLP 2.10.1 with its own pins, on $(CLASSIC_PYTHON)"
	$(CLASSIC_PYTHON) -m venv $(CLASSIC)
	$(CLASSIC)/bin/python -m pip install --quiet --disable-pip-version-check \
		-c requirements/classic.txt setuptools wheel
	$(CLASSIC)/bin/python -m pip install --quiet --disable-pip-version-check \
		--no-build-isolation -c requirements/classic.txt allennlp==2.10.1 hypothesis pandas
	$(CLASSIC)/bin/python -m pip install --quiet --disable-pip-version-check \
		--no-build-isolation --editable ".[allennlp,reading-comprehension,translation,tune]" \
		-c requirements/classic.txt
	touch $@

docs: $(VENV)/docs/.installed  ## Build the documentation as a site, with every link checked: out/site/index.html
	NO_MKDOCS_2_WARNING=1 $(VENV)/docs/bin/mkdocs build
	echo "The site is out/site/index.html"

docs-version: $(VENV)/docs/.installed  ## Commit the site of this version to the branch gh-pages, beside the other versions' sites
	PATH="$(CURDIR)/$(VENV)/docs/bin:$$PATH" NO_MKDOCS_2_WARNING=1 mike deploy --update-aliases \
		$(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' allennlp_sentmatch/version.py) latest
	PATH="$(CURDIR)/$(VENV)/docs/bin:$$PATH" mike set-default latest

$(VENV)/docs/.installed: requirements/docs.txt
	$(PYTHON) -m venv $(VENV)/docs
	$(VENV)/docs/bin/pip install --quiet --disable-pip-version-check -r requirements/docs.txt
	touch $@

experiments:  ## List the papers' experiments (PAPER=thesis DATA=snli MODEL=cas_lstm), or SHOW=snli/cas_lstm
	$(or $(wildcard $(BIN)/python),$(PYTHON)) -m scripts.list_experiments \
		--paper "$(PAPER)" --data-set "$(DATA)" --model "$(MODEL)" \
		--show "$(SHOW)"

benchmark: $(VENV)/.installed-benchmark  ## Measure the encoders' speed and fill docs/speed.md (about an hour)
	$(BIN)/python -m benchmarks.encoders --threads 2 --seconds 2 --longest 20 \
		--batch-sizes 32 --lengths 16 32 64 128 256 512 --plot docs/images/encoders_cpu.png
	$(BIN)/python -m benchmarks.targets --runs 4
	$(BIN)/python -m scripts.results.fill_tables

gpu:  ## Measure on a GPU whatever needs one, in five minutes, without .venv (OUT=out/gpu GPU_PYTHON=python3)
	PYTHON="$(or $(GPU_PYTHON),python3)" bash benchmarks/gpu.sh "$(or $(OUT),out/gpu)"

clean:  ## Remove the environments and caches
	rm -rf $(VENV) $(CLASSIC) build dist out *.egg-info .mypy_cache .pytest_cache .ruff_cache
