# Two commands matter: `make up` and `make test`. Each brings what it needs.
.DEFAULT_GOAL := help
SOAKS = soak-bytes soak-converge soak-crowd soak-faults soak-interrupted soak-ledger soak-mutants soak-editor
.PHONY: $(SOAKS) help up down test check lint preview lock bench pins bootstrap
# Set, it makes each of the many processes compile what it imports anew.
unexport PYTHONDONTWRITEBYTECODE
COMPILE = pip compile --quiet --universal --python-version 3.12 --generate-hashes --no-emit-index-url --no-annotate --no-header

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

up: bootstrap ## Take the spec to a running cluster with example jobs (ARGS="..." for the lab)
	@.venv/bin/tally lab up $(ARGS)

down: bootstrap ## End the lab: its processes, ports and state
	@.venv/bin/tally lab down $(ARGS)

test: check ## Check, then run the tests (ARGS="..." for pytest)
	@.venv/bin/tally lab toolchain
	@.venv/bin/python -m pytest -n auto $(ARGS)

check: lint ## Check style, types, the direction of imports, YAML, the pages of error codes
	@.venv/bin/mypy
	@.venv/bin/python -m tallyard.cli.pages --check

lint: bootstrap
	@.venv/bin/ruff check . && .venv/bin/ruff format --check .
	@.venv/bin/lint-imports && .venv/bin/yamllint --strict .

preview: bootstrap ## Review what `pulumi up` would change in the lab, and whom (ARGS="-o markdown")
	@.venv/bin/tally lab preview $(ARGS)

lock: ## Resolve the locks of the Python packages again (UPGRADE=--upgrade for newer versions)
	@uv=$$(bash lab/bootstrap.sh --uv) && $$uv $(COMPILE) $(UPGRADE) --group dev pyproject.toml -o requirements/lock.txt && \
	for set in bootstrap go; do $$uv $(COMPILE) requirements/$$set.in -o requirements/$$set.txt; done

bench: bootstrap ## Measure `make up`, rendering, and creating jobs with the admission policies
	@for benchmark in benchmarks/*.py; do .venv/bin/python "$$benchmark" || exit 1; done

soak-converge: bootstrap ## Make 20 fresh control planes converge in one `up` each (RUNS=N)
	@.venv/bin/python -m tests.soak.converge $(RUNS)

soak-interrupted: bootstrap ## Kill `up` at 20 moments and see it converge (ARGS="MOMENTS --seed N")
	@.venv/bin/python -m tests.soak.interrupted $(ARGS)

soak-ledger: bootstrap ## Live 20 lives of a ledger, its writer killed 240 times (ARGS="--seeds N --store postgresql")
	@nice -n 10 .venv/bin/python -m tests.soak.ledger $(ARGS)

soak-crowd: bootstrap ## Let 32 processes freeze 1,000 times each in one PostgreSQL (ARGS="--processes N")
	@.venv/bin/python -m tests.soak.ledger_crowd $(ARGS)

soak-faults: bootstrap ## Make faults by hand in the ledger's code: which test catches each? (ARGS="--only N")
	@nice -n 10 .venv/bin/python -m tests.soak.ledger_faults $(ARGS)

soak-mutants: bootstrap ## Load 10,000 mutants of the specs, 200 as processes (ARGS="COUNT --seed N --only I")
	@nice -n 10 .venv/bin/python -m tests.soak.mutants --seed 2026 $(ARGS)

soak-editor: bootstrap ## See what an editor completes, shows and underlines in the spec (needs npm)
	@.venv/bin/python -m tests.soak.editor

soak-bytes: bootstrap ## Compare the rendered bytes under Python 3.12 and 3.13
	@.venv/bin/python -m tests.soak.bytes

pins: bootstrap ## Look up the digests of images and charts in stacks/versions.yaml
	@.venv/bin/tally spec pins $(ARGS)

bootstrap:
	@bash lab/bootstrap.sh
