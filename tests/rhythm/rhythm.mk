# SPDX-License-Identifier: MIT
#
# Programs that compute in beats, in the long form: see rhythm.py.
# RHYTHM_ARGS="--beats 100 --seed 5" chooses.  Included by tests/tests.mk.

RHYTHM_ARGS ?=

check-rhythm: all programs ## shares of programs that compute in beats
	@B=$(B) $(PYTHON) tests/rhythm/rhythm.py $(RHYTHM_ARGS)
	@B=$(B) $(PYTHON) tests/rhythm/rhythm.py --busy 4 --beats 13 $(RHYTHM_ARGS)

.PHONY: check-rhythm
