# Real time against the programs' own truth, in the long form: see wall.py.
# WALL_ARGS="--seconds 20 --hz 250 --quiet" chooses.  Included by
# tests/tests.mk.

WALL_ARGS ?=

check-wall: all programs ## real time against what programs log of themselves
	@B=$(B) $(PYTHON) tests/wall/wall.py $(WALL_ARGS)

.PHONY: check-wall
