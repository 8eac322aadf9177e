# Test suites of others without jprof and under it; see transparency.py.
# TRANSPARENCY_ARGS="--suite glib --unit thread" chooses.

TRANSPARENCY_ARGS ?=
SUITES := $(B)/suites

check-transparency: $(B)/libjprof.so suites-build ## the tests of CPython, GLib, libuv, Perl, Tcl and libevent, without jprof, beside it idle, and under it
	@B=$(B) $(PYTHON) tests/transparency/transparency.py $(TRANSPARENCY_ARGS)

# Those of which Debian has no package are built from its sources.
suites-deps:
	@scripts/install-deps suites
	@scripts/get-source $(SUITES) libuv1 perl tcl8.6 libevent

suites-build: suites-deps
	+@$(MAKE) --no-print-directory $(SUITES)/libuv1/built \
	  $(SUITES)/perl/built $(SUITES)/tcl8.6/built \
	  $(SUITES)/libevent/built

$(SUITES)/libuv1/built:
	@echo "building libuv's tests"
	@mkdir -p $(@D)/build
	@cd $(@D)/build && { cmake -DBUILD_TESTING=ON .. && \
	  $(MAKE) uv_run_tests; } >../build.txt 2>&1 || \
	  { tail -20 ../build.txt; exit 1; }
	@touch $@

$(SUITES)/perl/built:
	@echo "building Perl, which takes some minutes"
	@cd $(@D) && { ./Configure -des -Dusethreads && $(MAKE) test_prep; } \
	  >build.txt 2>&1 </dev/null || { tail -20 build.txt; exit 1; }
	@touch $@

$(SUITES)/tcl8.6/built:
	@echo "building Tcl's tests"
	@cd $(@D)/unix && { ./configure && $(MAKE) tcltest; } \
	  >../build.txt 2>&1 || { tail -20 ../build.txt; exit 1; }
	@touch $@

$(SUITES)/libevent/built:
	@echo "building libevent's tests"
	@mkdir -p $(@D)/build
	@cd $(@D)/build && { cmake -DEVENT__LIBRARY_TYPE=STATIC \
	  -DEVENT__DISABLE_OPENSSL=ON -DEVENT__DISABLE_MBEDTLS=ON .. && \
	  $(MAKE) regress; } >../build.txt 2>&1 || \
	  { tail -20 ../build.txt; exit 1; }
	@touch $@

.PHONY: check-transparency suites-deps suites-build
