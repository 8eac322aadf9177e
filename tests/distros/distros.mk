# Minimal systems of other releases, made by debootstrap; each runs README's
# two commands.  Included by tests/tests.mk.
DISTROS ?= bookworm trixie sid

check-distros: ## README's two commands in minimal Debian systems (as root; DISTROS=trixie)
	tests/distros/check-distros $(DISTROS)

sources: $(SIG_OBJ) $(PRE_OBJ) $(REP_OBJ) $(JL_OBJ) $(B)/libjprof.so

check-compilers: ## no warning from any compiler at hand, in all the ways to build
	B=$(B) tests/distros/check-compilers

.PHONY: check-distros check-compilers sources
