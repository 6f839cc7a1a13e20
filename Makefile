# Everything is set up by the target itself: a fresh machine needs Python >= 3.11, git and npm.
SHELL := /bin/bash
BIN := .venv/bin
# Many tests wait for programs: a few more workers than cores keep the machine busy.
WORKERS ?= 3

.PHONY: demo test drill lint docs bench venv backends clean

demo: venv  ## A scratch repository, a memory, an agent, and the proof that the memory arrived
	@source scripts/environment && scripts/install-backends --quiet claude || true
	@source scripts/environment && $(BIN)/orch demo

test: lint  ## Every check and every test, the real backends included
	@source scripts/environment && scripts/install-backends || echo "some backends could not be installed: their tests are skipped, in CI they fail"
	@source scripts/environment && $(BIN)/pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

drill: venv  ## kill -9 at every step boundary of rm, restore, merge and gc, three rounds (make test tries a sample)
	DRILL_ROUNDS=3 $(BIN)/pytest -n $(WORKERS) --dist worksteal tests/orchestrator/test_drill.py

lint: venv  ## Style, types, and whether docs/ is current
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python scripts/generate-docs --check

docs: venv  ## Write the generated part of docs/
	$(BIN)/python scripts/generate-docs

bench: venv  ## Start-up, spawn and memory, as ratios against a floor measured in the same run
	@source scripts/environment && $(BIN)/python scripts/benchmark
	@source scripts/environment && $(BIN)/python scripts/evaluate-ask

venv:
	@scripts/make-venv

backends:  ## Install the real backends at pinned versions into the cache
	@source scripts/environment && scripts/install-backends

clean:  ## Remove what the targets above made in this folder
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
