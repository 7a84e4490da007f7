# Builds, tests and installs e. Everything works from a fresh checkout with a Rust toolchain.

CARGO ?= cargo
prefix ?= /usr/local
bindir ?= $(prefix)/bin
mandir ?= $(prefix)/share/man
docdir ?= $(prefix)/share/doc/e
bashdir ?= $(prefix)/share/bash-completion/completions
zshdir ?= $(prefix)/share/zsh/site-functions
fishdir ?= $(prefix)/share/fish/vendor_completions.d
INSTALL ?= install

target := $(or $(CARGO_TARGET_DIR),target)
bin := $(target)/release/e
scripts := $(target)/completions
sources := $(shell find src docs/guides docs/schema -type f) Cargo.toml Cargo.lock
version := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)

.PHONY: all build check test bench demo man completions install uninstall dist clean

.DELETE_ON_ERROR:

all: build completions

build:
	$(CARGO) build --release --locked
	@touch $(bin)

# For what only needs the binary to be there: after `make`, `sudo make install` runs no compiler.
$(bin): $(sources)
	$(CARGO) build --release --locked
	@touch $@

check:
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings

test:
	$(CARGO) test --locked

# Measures speed and size against floors of the same run.
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
	$(bin) --generate man-extensions > man/e-extensions.7

completions: $(scripts)/e.bash $(scripts)/_e $(scripts)/e.fish

$(scripts)/e.bash: name = bash
$(scripts)/_e: name = zsh
$(scripts)/e.fish: name = fish
$(scripts)/e.bash $(scripts)/_e $(scripts)/e.fish: $(bin)
	@mkdir -p $(scripts)
	$(bin) --generate complete-$(name) > $@

install: $(bin) completions
	$(INSTALL) -Dm755 $(bin) $(DESTDIR)$(bindir)/e
	for page in man/*.1; do $(INSTALL) -Dm644 "$$page" $(DESTDIR)$(mandir)/man1/$$(basename "$$page"); done
	for page in man/*.5; do $(INSTALL) -Dm644 "$$page" $(DESTDIR)$(mandir)/man5/$$(basename "$$page"); done
	for page in man/*.7; do $(INSTALL) -Dm644 "$$page" $(DESTDIR)$(mandir)/man7/$$(basename "$$page"); done
	$(INSTALL) -Dm644 $(scripts)/e.bash $(DESTDIR)$(bashdir)/e
	$(INSTALL) -Dm644 $(scripts)/_e $(DESTDIR)$(zshdir)/_e
	$(INSTALL) -Dm644 $(scripts)/e.fish $(DESTDIR)$(fishdir)/e.fish
	for file in README.md CHANGELOG.md LICENSE; do $(INSTALL) -Dm644 $$file $(DESTDIR)$(docdir)/$$file; done
	$(INSTALL) -d $(DESTDIR)$(docdir)/examples
	cp docs/guides/extend/examples/* $(DESTDIR)$(docdir)/examples

uninstall:
	rm -f $(DESTDIR)$(bindir)/e $(DESTDIR)$(bashdir)/e $(DESTDIR)$(zshdir)/_e $(DESTDIR)$(fishdir)/e.fish
	for page in man/*.1; do rm -f $(DESTDIR)$(mandir)/man1/$$(basename "$$page"); done
	for page in man/*.5; do rm -f $(DESTDIR)$(mandir)/man5/$$(basename "$$page"); done
	for page in man/*.7; do rm -f $(DESTDIR)$(mandir)/man7/$$(basename "$$page"); done
	rm -rf $(DESTDIR)$(docdir)

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
