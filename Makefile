# Two commands do everything on a fresh Debian 12 machine: `make demo` and `make test`.
BUILD := build/release
PREFIX ?= /usr/local

.PHONY: all setup demo test install clean

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
	@ctest --test-dir build/dev --output-on-failure --no-tests=error

install: all
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

clean:
	rm -rf build
