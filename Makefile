# Every target does its own set-up, once: what was done is remembered by the stamps below. One that was broken off goes on
# when it is asked for again; what was made for another Python, folder or MPI is made anew.
# PYTHON=… chooses the Python that .venv is made with, ARGS=… adds options to what is run.

BIN := .venv/bin
STAMPS := .venv/stamps
KERNELS := $(wildcard $(addprefix src/fathometer/native/,*.cpp *.hpp */*.cpp */*.hpp))
GENERATED := $(addprefix src/fathometer/native/profile/,functions.toml generate.py)
PIP := flock $(STAMPS)/lock $(BIN)/python -m pip --disable-pip-version-check --quiet
DPKG := $(wildcard /var/lib/dpkg/status) # changes with the packages that the system has

# Where two things can be done at a time for a goal, they are: downloads beside what is compiled. Several goals are done
# one after the other.
MAKEFLAGS += $(if $(word 2,$(MAKECMDGOALS)),,--jobs=2)
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo setup check test verify trials sanitize lint bench build dev wheel docs clean distclean

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

demo: build ## the main job on a built-in example (ARGS="--quick --threads 1" adds options)
	@$(BIN)/fathometer demo --ranks 2 $(ARGS)

setup: dev $(STAMPS)/test-packages $(STAMPS)/h5py $(STAMPS)/petsc ## all that the tests need

# Two files of tests at a time: most of them wait for processes, or compute on one core.
check: dev ## some tests of every part, in a minute or two (tests/check.txt)
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile @tests/check.txt $(ARGS)

test: setup ## all tests at reduced sizes (ARGS=tests/test_x.py chooses)
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile $(ARGS)

verify: dev $(STAMPS)/verify-packages ## the verifications at full size
	@FATHOMETER_FULL=1 $(BIN)/python -m pytest -q -m verify $(ARGS)

trials: setup ## kills, failed calls, fuzzed inputs, set-ups in bare roots: three quarters of an hour
	@$(BIN)/python -m pytest -q -m trials $(ARGS)

# Sizes as in `make test`; the kernels' own tests, and those whose runs take all tilings, layers, points and encodings.
SANITIZED := tests/native/test_kernels.py tests/native/test_not_a_number.py tests/runs/test_exact.py \
  tests/seismic/history/test_encoding.py tests/grid/test_tiling.py tests/seismic/waves/test_propagator.py \
  tests/seismic/waves/test_adjoint.py::test_reciprocity tests/apps/reactive/test_chemistry_kernel.py \
  tests/apps/reactive/test_transport_kernel.py

sanitize: setup ## the kernels' tests with kernels built with sanitizers
	@tools/sanitize.sh address $(SANITIZED) $(ARGS)

lint: dev ## style and types
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy src
	@$(BIN)/clang-format --dry-run -Werror $(KERNELS)

bench: dev ## the benchmarks
	@$(BIN)/python -m benchmarks $(ARGS)

docs: dev ## write the generated parts of docs/ anew
	@$(BIN)/python tools/reference.py $(addprefix docs/guide/,survey-file.md recipes.md study-file.md flow-file.md reactive-chemistry.md ocean-file.md)

# An editable install is not compiled by pip, and some environments forbid Python to keep what it compiles: each start
# of the program would take half a second more.
build: $(STAMPS)/build ## set up .venv and compile the kernels for this machine
	@$(BIN)/python -m compileall -q src

dev: build $(STAMPS)/dev-dependencies

wheel: $(STAMPS)/mpi ## a wheel for any processor of this architecture, in dist/
	@echo "· compiling the kernels in all variants (five minutes)"
	@$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist -C cmake.define.FATHOMETER_NATIVE=OFF .
	@ls dist/*.whl

clean: ## remove what was built and computed, but not .venv
	rm -rf build dist demo out $(STAMPS)/build $(STAMPS)/kernels .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src -name __pycache__ -exec rm -rf {} +

distclean: clean ## remove .venv too
	rm -rf .venv

$(STAMPS)/packages: packages.txt packages-build.txt tools/packages.sh tools/python.sh $(DPKG)
	@mkdir -p $(STAMPS)
	@tools/packages.sh $@ packages.txt packages-build.txt

# The tests' packages have headers, with which more is compiled.
TESTING := $(filter setup test trials sanitize,$(MAKECMDGOALS))

$(STAMPS)/venv: FORCE tools/venv.sh tools/mpi.py $(STAMPS)/packages | $(if $(TESTING),$(STAMPS)/test-packages)
	@flock $(STAMPS)/lock tools/venv.sh

# Where headers of an MPI came or went, what needs them is built.
$(STAMPS)/headers: FORCE $(STAMPS)/venv
	@cmp -s $(STAMPS)/system $@ || cp $(STAMPS)/system $@

# Build requirements are installed beforehand because the build runs in .venv itself, where it can be continued.
$(STAMPS)/build-dependencies: pyproject.toml tools/requirements.py $(STAMPS)/venv
	@echo "· installing what the build needs (some seconds)"
	@$(BIN)/python tools/requirements.py build > $(STAMPS)/requirements-build.txt
	@$(PIP) install --no-compile -r $(STAMPS)/requirements-build.txt
	@flock $(STAMPS)/lock $(BIN)/python tools/mpi.py install
	@touch $@

# Byte code is made on all cores, and not of what nobody imports: tests, and plotly, of which a file of JavaScript is used.
$(STAMPS)/dependencies: pyproject.toml tools/requirements.py $(STAMPS)/build-dependencies
	@echo "· installing Python packages (half a minute, beside the kernels)"
	@$(BIN)/python tools/requirements.py run > $(STAMPS)/requirements.txt
	@$(PIP) install --no-compile -r $(STAMPS)/requirements.txt
	@$(BIN)/python -m compileall -q -q -j 0 -x '/(plotly|tests)/' .venv/lib || true
	@touch $@

$(STAMPS)/mpi: tools/mpi.py $(STAMPS)/headers $(STAMPS)/dependencies
	@flock $(STAMPS)/lock $(BIN)/python tools/mpi.py settle
	@touch $@

$(STAMPS)/dev-dependencies: pyproject.toml tools/requirements.py $(STAMPS)/mpi
	@echo "· installing Python packages for tests and checks (half a minute)"
	@$(BIN)/python tools/requirements.py dev > $(STAMPS)/requirements-dev.txt
	@$(PIP) install -r $(STAMPS)/requirements-dev.txt
	@$(BIN)/python tools/requirements.py formats query > $(STAMPS)/requirements-formats.txt
	@$(PIP) install -r $(STAMPS)/requirements-formats.txt && touch $@ \
	  || echo "· going on without some formats (their tests are skipped)"

# Whoever cannot install them is told once, and the tests that need them are skipped.
$(STAMPS)/test-packages: packages-test.txt tools/packages.sh $(DPKG) | $(STAMPS)/packages
	@tools/packages.sh $@ packages-test.txt

$(STAMPS)/verify-packages: packages-verify.txt tools/packages.sh $(DPKG) | $(STAMPS)/packages
	@tools/packages.sh $@ packages-verify.txt

# Optional too: what is missing afterwards is said by `fathometer info --formats`, and its tests are skipped. What could
# not be downloaded is tried again the next time.
$(STAMPS)/h5py: tools/h5py.sh pyproject.toml $(STAMPS)/mpi $(STAMPS)/test-packages
	@flock $(STAMPS)/lock tools/h5py.sh $(BIN)/python && touch $@ || true

# Optional as well: `fathometer reactive` says what is missing.
$(STAMPS)/petsc: tools/petsc.sh $(STAMPS)/mpi $(STAMPS)/test-packages
	@flock $(STAMPS)/lock tools/petsc.sh $(BIN)/python && touch $@ || true

# The editable install knows its modules by name: it is made anew where some were added, moved or removed.
$(STAMPS)/modules: FORCE $(STAMPS)/venv
	@find src -name '*.py' | sort | cmp -s - $@ || find src -name '*.py' | sort > $@

FORCE:

# The wheel of an editable installation, without pip, whose lock on .venv others need meanwhile.
$(STAMPS)/kernels: tools/mpi.py $(STAMPS)/build-dependencies $(STAMPS)/headers $(STAMPS)/modules CMakeLists.txt pyproject.toml $(KERNELS) $(GENERATED)
	@echo "· compiling the kernels (a minute or two)"
	@rm -rf build/wheel && mkdir -p build/wheel
	@$(BIN)/python tools/editable.py build/wheel
	@touch $@

$(STAMPS)/build: $(STAMPS)/mpi $(STAMPS)/kernels
	@$(PIP) install --no-deps --force-reinstall build/wheel/*.whl
	@touch $@
