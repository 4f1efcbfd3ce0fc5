# Two commands do everything on a fresh Debian 12 machine: `make demo` and `make test`.
BUILD := build/release
PREFIX ?= /usr/local
# The Python tests have their module built in build/dev, too. Where their virtual environment is gone, the module is
# left out again.
# The kernel for GPUs is compiled where nvcc is.
NVCC := $(shell command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
# So is communication between processes where mpicc is, which `make test` installs first.
CONFIGURE_DEV := cmake --preset dev $(if $(wildcard build/venv/made-from),,-DZTP_PYTHON=OFF) \
  -DZTP_CUDA=$(if $(NVCC),ON,OFF) -DZTP_MPI=$$(command -v mpicc >/dev/null && echo ON || echo OFF) >/dev/null

.PHONY: all setup demo test cuda test-cuda cuda-bundle mpi cluster-bundle python wheel wheels wheel-chroots wheel-again deb \
        container-check fuzz fuzz-test bench bench-bundle build-bench calibration paper sanitize \
        reliability docs install clean

all: setup
	@cmake --preset release >/dev/null
	@cmake --build $(BUILD)

setup:
	@scripts/setup.sh build

demo: all
	@scripts/demo.sh

test:
	@scripts/setup.sh test
	@$(CONFIGURE_DEV)
	@cmake --build build/dev
	@ctest --test-dir build/dev --output-on-failure --no-tests=error -j 3
	@$(MAKE) --no-print-directory fuzz-test
	@scripts/python_tests.sh dev

# The kernel for GPUs, build/release/libztp_cuda.so beside the program. Needs NVIDIA's CUDA toolkit, and installs nothing
# of it.
cuda: all
	@[ -n "$(NVCC)" ] || { echo "make cuda needs nvcc: install NVIDIA's CUDA toolkit (12.1 or later), and put its bin \
	folder on the path" >&2; exit 1; }
	@cmake --preset release -DZTP_CUDA=ON >/dev/null
	@cmake --build $(BUILD)

# The tests of kernels, of chains and of whole fits, on a machine with a GPU; cuda-bundle makes build/cuda-bundle, a
# folder that runs the same where nothing else is installed: build/cuda-bundle/test.
test-cuda: cuda-bundle
	@build/cuda-bundle/test

CUDA_TESTS := kernel_tests sampler_tests counts_dist_test columns_dist_test gamma_dist_test exact_calibration_test \
  joint_calibration_test
cuda-bundle: cuda
	@scripts/setup.sh test
	@$(CONFIGURE_DEV)
	@cmake --build build/dev --target $(CUDA_TESTS)
	@scripts/bundle.sh build/cuda-bundle $(BUILD)/ztp $(wildcard $(BUILD)/ztp-bench) \
	  $(addprefix build/dev/tests/,$(CUDA_TESTS))
	@cp $(BUILD)/libztp_cuda.so build/cuda-bundle/
	@cp scripts/cuda_tests.sh build/cuda-bundle/test

# Communication between processes, build/release/libztp_mpi.so beside the program, for `mpirun ztp`. Needs an MPI with its
# headers, and installs nothing of it.
mpi: all
	@command -v mpicc >/dev/null || { echo "make mpi needs mpicc: install an MPI with its headers (Debian: libopenmpi-dev \
	and openmpi-bin)" >&2; exit 1; }
	@cmake --preset release -DZTP_MPI=ON >/dev/null
	@cmake --build $(BUILD) --target ztp_mpi

# Both with this machine's Open MPI in a folder that runs several processes where nothing is installed, and what measures
# them there: build/cluster-bundle/bin/mpirun, build/cluster-bundle/cluster_bench.py
cluster-bundle: mpi
	@scripts/cluster_bundle.sh build/cluster-bundle $(BUILD)
	@cp experiments/cluster_model.py experiments/cluster_bench.py build/cluster-bundle/

# The Python package: a release build, installed into a fresh virtual environment, and its tests. PYTHON says which
# interpreter.
python: all
	@scripts/setup.sh python
	@scripts/python_tests.sh release

# A wheel in build/wheel that brings its libraries along, tried beside other packages that bring their own.
wheel:
	@scripts/setup.sh wheel
	@scripts/wheel.sh

# What a release has: wheels for Python 3.10, 3.11, and 3.12 and all later ones. They are tried in bare systems (Debian
# 12 and 13, Ubuntu 22.04 and 24.04), and built again in another folder, which must give the same bytes. Needs root.
wheels:
	@scripts/setup.sh chroots
	@scripts/wheel_release.sh build
wheel-chroots:
	@scripts/wheel_release.sh chroots
wheel-again:
	@scripts/wheel_release.sh again

# A package for Debian, build/deb/ztp_*.deb.
deb:
	@scripts/setup.sh deb
	@scripts/deb.sh

# The steps of the Containerfile in bare systems, without a container engine. Its package must be the same as that of
# `make deb`, byte for byte. Needs root.
container-check: deb
	@scripts/setup.sh chroots
	@scripts/container_check.py

# Hostile files for every reader, for an hour in all or as long as FUZZ_SECONDS says (fuzz/README.md). Needs clang++
# with libFuzzer.
FUZZ_SECONDS ?= 3600
FUZZ_OUT ?= build/fuzz-out
fuzz:
	@cmake --preset fuzz >/dev/null
	@cmake --build build/fuzz --target fuzz
	@fuzz/run.sh $(FUZZ_SECONDS) $(FUZZ_OUT)

# Ten seconds of it with a fixed seed, where that compiler is there.
fuzz-test:
	@if fuzz/available.sh; then \
	  rm -rf build/fuzz-test && \
	  $(MAKE) --no-print-directory fuzz FUZZ_SECONDS=10 FUZZ_OUT=build/fuzz-test FUZZ_SEED=1; \
	else echo "fuzzing skipped: there is no clang++ with libFuzzer (Debian: clang and libclang-rt-14-dev)"; fi

# How fast the sampler is on this machine: tables, and build/bench.json. BENCH takes options of `ztp bench`.
bench: build-bench
	@$(BUILD)/ztp bench --json build/bench.json $(BENCH)

# The same program with its libraries in a folder that can be taken to a bare machine: build/bench-bundle/run
bench-bundle: build-bench
	@scripts/bundle.sh build/bench-bundle $(BUILD)/ztp-bench

build-bench:
	@scripts/setup.sh bench
	@cmake --preset release >/dev/null
	@cmake --build $(BUILD) --target ztp_program ztp_bench

# The calibration tests in full: about half an hour on one core. Results go to build/calibration, plots to docs/images,
# the tables to docs/tables (docs/correctness.md).
calibration:
	@scripts/setup.sh calibration
	@$(CONFIGURE_DEV)
	@cmake --build build/dev --target exact_calibration_test shared_exact_calibration_test joint_calibration_test \
	  sbc_calibration_test logistic_calibration_test
	@rm -rf build/calibration && mkdir -p build/calibration
	@ZTP_FULL=1 ZTP_RESULTS="$(CURDIR)/build/calibration" \
	  ctest --test-dir build/dev --output-on-failure --no-tests=error -L calibration
	@/usr/bin/python3 scripts/plot_calibration.py build/calibration docs/images

# The experiments of the paper (docs/results.md): many hours, so it can be stopped at any time and goes on where it was
# when started again. Needs the data sets under $ZTP_DATA. PAPER takes options of all the scripts, as --quick or
# --report; rows are in build/paper.
paper: all
	@scripts/setup.sh paper
	@experiments/paper/run.sh $(PAPER)

# The tests under the address and undefined-behaviour sanitizers, then under the thread sanitizer, but for those that
# measure: speed, memory, accuracy, and distributions, which need many draws of code that the others run, too. About an
# hour on two cores. SANITIZE takes options of ctest, as -L cli.
sanitize:
	@scripts/setup.sh test
	@for preset in asan tsan; do \
	  cmake --preset $$preset >/dev/null && cmake --build build/$$preset && \
	  ctest --test-dir build/$$preset --output-on-failure --no-tests=error -j $$(nproc) \
	    -LE '^(measures|dist|calibration|recovery)$$' $(SANITIZE) || exit 1; \
	done

# The figures of docs/reliability.md: kills, full disks, a million sweeps, eight threads under the thread sanitizer, bad
# inputs and ten million executions of the fuzz targets. About an hour on two cores; root, or user namespaces, for the
# full disks.
reliability: all
	@scripts/setup.sh test
	@experiments/reliability.py kills --count 200 --record
	@experiments/reliability.py full --count 100 --record
	@experiments/reliability.py sweeps --count 1000000 --record
	@cmake --preset tsan >/dev/null && cmake --build build/tsan --target ztp_program mend_manifest
	@experiments/reliability.py threads --program build/tsan/ztp --record
	@experiments/reliability.py inputs --program build/tsan/ztp --record
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=1200
	@experiments/reliability.py report

# README.md and docs/ as a site, build/docs/index.html, with the report of the demo, which is made if it is not there.
docs:
	@scripts/setup.sh python
	@[ -e build/demo/report.html ] || $(MAKE) --no-print-directory demo
	@scripts/site/build.sh

install: all
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

clean:
	rm -rf build
