# The tools that users open exports with, beside those that `make check` runs.
READERS ?= $(B)/readers

check-readers: all $(PROGRAMS) ## exports in pprof, the Firefox Profiler's command line, speedscope, inferno, gprof2dot
	-tests/readers/install $(READERS)
	cd tests/readers && B=$(abspath $(B)) READERS=$(abspath $(READERS)) \
	  $(PYTHON) -m unittest -v test_readers

.PHONY: check-readers
