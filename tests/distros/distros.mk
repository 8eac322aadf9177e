# Minimal systems of other releases, made by debootstrap; each runs README's
# two commands.  Included by tests/tests.mk.
DISTROS ?= bookworm trixie sid

check-distros: ## README's two commands in minimal Debian systems (as root; DISTROS=trixie)
	tests/distros/check-distros $(DISTROS)

.PHONY: check-distros
