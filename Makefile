# Two commands do everything on a fresh Debian 12 machine: `make demo` and `make test`.
BUILD := build/release
PREFIX ?= /usr/local

.PHONY: all setup demo test sanitize install clean

all: setup
	@cmake --preset release >/dev/null
	@cmake --build $(BUILD)

setup:
	@scripts/setup.sh build

demo: all
	@scripts/demo.sh

test:
	@scripts/setup.sh test
	@cmake --preset dev >/dev/null
	@cmake --build build/dev
	@ctest --test-dir build/dev --output-on-failure --no-tests=error -j 2

# Everything but the long statistical tests under the address and undefined-behaviour sanitizers, then the thread sanitizer.
sanitize:
	@scripts/setup.sh test
	@for preset in asan tsan; do \
	  cmake --preset $$preset >/dev/null && cmake --build build/$$preset && \
	  ctest --test-dir build/$$preset --output-on-failure --no-tests=error -j 2 -L 'fast|cli' || exit 1; \
	done

install: all
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

clean:
	rm -rf build
