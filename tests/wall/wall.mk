# Real time against the programs' own truth, in the long form: see wall.py.
# WALL_ARGS="--seconds 20 --hz 250 --quiet" chooses.  What threads that wait
# cost, and what a ring keeps of many threads: idle.py and rings.py.  Included
# by tests/tests.mk.

WALL_ARGS ?=

check-wall: all programs ## real time against what programs log of themselves
	@B=$(B) $(PYTHON) tests/wall/wall.py $(WALL_ARGS)

check-idle: all programs ## what waiting threads cost in real time, and rings
	@B=$(B) $(PYTHON) tests/wall/idle.py
	@B=$(B) $(PYTHON) tests/wall/rings.py

.PHONY: check-wall check-idle
