# The library with the compilers' checks: address and undefined behaviour in
# $(B)/asan (beside the parsers' tests and fuzz targets), data races in
# $(B)/tsan.  Both builds are gcc's, whose runtimes are shared objects.  The
# instrumented code needs more stack than a handler may have: SIGFLAGS is gone.

SANITIZE_THREAD := -O1 -g1 -fno-omit-frame-pointer -fsanitize=thread -Wno-tsan
# Tests for which the data-race checks are of use.  The hooks (PRE_OBJ) stay
# out: they and the runtime would both take the program's calls.
TSAN_UNIT := test_pre_threads

# Programs that are built with the checks themselves.
ASAN_PROGRAMS := deep shares

unit-pre-build: $(UNIT_PRE) $(UNIT_PURE)

# Not beside asan-build: both makes would write the same objects.
asan-pre-build: asan-build
	+@$(MAKE) --no-print-directory B=$(B)/asan CFLAGS="$(SANITIZE)" \
	  SIGFLAGS= $(B)/asan/libjprof.so unit-pre-build
	+@$(MAKE) --no-print-directory B=$(B)/asan \
	  PROGFLAGS="$(PROGFLAGS) $(SANITIZE)" \
	  $(ASAN_PROGRAMS:%=$(B)/asan/tests/programs/%)

# The runtime hears of memory that is given back through libc's munmap alone:
# without that it takes two users of one address for a race.
tsan-build:
	+@$(MAKE) --no-print-directory B=$(B)/tsan CFLAGS="$(SANITIZE_THREAD)" \
	  SIGFLAGS= PRE_OBJ= LDFLAGS="-Wl,--wrap=jp_sys_unmap_sig" \
	  $(TSAN_UNIT:%=$(B)/tsan/tests/unit/%)

asan-collector: asan-pre-build all $(PROGRAMS) ## the library's tests and programs under it, with ASan and UBSan
	@$(CHECK) --only sanitize,run --match asan

tsan-collector: tsan-build ## the library's lock-free parts from many threads, with TSan
	@JPROF_RACE_ROUNDS=10 $(CHECK) --only sanitize --match tsan

.PHONY: unit-pre-build asan-pre-build tsan-build asan-collector tsan-collector
