# Builds, tests and installs e. Everything works from a fresh checkout with a Rust toolchain.

CARGO ?= cargo
prefix ?= /usr/local
bindir ?= $(prefix)/bin
mandir ?= $(prefix)/share/man
bashdir ?= $(prefix)/share/bash-completion/completions
zshdir ?= $(prefix)/share/zsh/site-functions
fishdir ?= $(prefix)/share/fish/vendor_completions.d
INSTALL ?= install

target := $(or $(CARGO_TARGET_DIR),target)
bin := $(target)/release/e
version := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)

.PHONY: all build check test bench demo man completions install dist clean

all: build

build:
	$(CARGO) build --release --locked

check:
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings

test:
	$(CARGO) test --locked

# Measures speed and size against floors of the same run; see docs/performance.md.
bench: build
	$(CARGO) bench --locked --bench speed

# A real turn on this checkout with the offline model: no key, no network, nothing left behind.
demo: build
	@home=$$(mktemp -d) && trap 'rm -rf "$$home"' EXIT && \
	E_HOME="$$home" $(bin) -p --trust --model offline/demo "what does this repo do?" </dev/null

# The pages are kept in man/ and printed from the tables in the binary; a test compares them.
man: build
	mkdir -p man
	$(bin) --generate man > man/e.1
	$(bin) --generate man-rpc > man/e-rpc.1
	$(bin) --generate man-settings > man/e-settings.5

completions: build
	mkdir -p $(target)/completions
	$(bin) --generate complete-bash > $(target)/completions/e.bash
	$(bin) --generate complete-zsh > $(target)/completions/_e
	$(bin) --generate complete-fish > $(target)/completions/e.fish

install: build completions
	$(INSTALL) -Dm755 $(bin) $(DESTDIR)$(bindir)/e
	for page in man/*.1; do $(INSTALL) -Dm644 "$$page" $(DESTDIR)$(mandir)/man1/$$(basename "$$page"); done
	for page in man/*.5; do $(INSTALL) -Dm644 "$$page" $(DESTDIR)$(mandir)/man5/$$(basename "$$page"); done
	$(INSTALL) -Dm644 $(target)/completions/e.bash $(DESTDIR)$(bashdir)/e
	$(INSTALL) -Dm644 $(target)/completions/_e $(DESTDIR)$(zshdir)/_e
	$(INSTALL) -Dm644 $(target)/completions/e.fish $(DESTDIR)$(fishdir)/e.fish

# A tarball with all crates in it; builds with --offline --locked.
dist:
	rm -rf dist/e-$(version) && mkdir -p dist/e-$(version)/.cargo
	git archive HEAD | tar -x -C dist/e-$(version)
	cd dist/e-$(version) && $(CARGO) vendor --locked vendor > .cargo/config.toml
	tar -C dist -czf dist/e-$(version).tar.gz e-$(version)
	rm -rf dist/e-$(version)
	@echo dist/e-$(version).tar.gz

clean:
	$(CARGO) clean
	rm -rf dist
