# Tests: how they are built and run.  Included by the Makefile; everything is
# built below $(B), the instrumented builds in folders of their own below it.
#
# tests/unit/test_*.c     a cmocka executable each; test_pre_* link the objects
#                         of the library, the others those of jprof-report
# tests/programs/*.c      programs to profile; those in PROG_SO shared objects
# tests/fuzz/fuzz_*.c     a fuzz target each, with tests/fuzz/driver.c
# tests/check.py          runs it all and counts

PYTHON ?= python3
include tests/oracle/oracle.mk
include tests/twice/twice.mk
include tests/cross/cross.mk
include tests/distros/distros.mk
FUZZ_SECONDS ?= 60
FUZZ_CC ?= clang
CHECK_ARGS ?=

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT := $(UNIT_SRC:%.c=$(B)/%)
UNIT_PURE := $(B)/tests/unit/test_pre_heuristics
UNIT_PRE := $(filter-out $(UNIT_PURE),$(filter $(B)/tests/unit/test_pre_%,\
  $(UNIT)))
UNIT_REP := $(filter-out $(UNIT_PRE) $(UNIT_PURE),$(UNIT))
PROG_SO := earlylib gdbstate mallocspy nssmod_a nssmod_b spinlib stubs swap_a \
  swap_b twin_a twin_b unversioned
PROG_SRC := $(wildcard tests/programs/*.c)
PROG_ALL := $(patsubst tests/programs/%.c,%,$(PROG_SRC))
PROGRAMS := $(patsubst %,$(B)/tests/programs/%,$(filter-out $(PROG_SO),\
  $(PROG_ALL))) $(patsubst %,$(B)/tests/programs/%.so,$(filter $(PROG_SO),\
  $(PROG_ALL))) $(B)/tests/programs/throws $(B)/tests/programs/storm \
  $(B)/tests/programs/recurse $(B)/tests/programs/inlined \
  $(B)/tests/programs/static_busy $(B)/tests/programs/forkcost \
  $(B)/tests/tools/timeline $(B)/tests/tools/codes \
  $(B)/tests/tools/runtimes $(B)/tests/tools/lines \
  $(B)/tests/tools/torture $(B)/tests/tools/modellog $(B)/tests/soak/storm
SOAK_SRC := $(wildcard tests/soak/*.c tests/soak/*.cc)
SOAK_OBJ := $(SOAK_SRC:%=$(B)/%.o)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ := $(FUZZ_SRC:%.c=$(B)/%)
FUZZ_LONG := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/libfuzzer/%)
# Those of the library's parsers; the others are of jprof-report's.
FUZZ_PRE := cfi python
FUZZ_PRE := $(FUZZ_PRE:%=$(B)/tests/fuzz/fuzz_%)
FUZZ_PRE_LONG := $(FUZZ_PRE:$(B)/tests/fuzz/%=$(B)/libfuzzer/%)
$(B)/tests/fuzz/fuzz_python $(B)/libfuzzer/fuzz_python: FUZZ_WRAP := \
  jp_module_read_sig jp_sys_gather_sig jp_mapfile_append_sig \
  jp_script_number_sig
# Those whose files are in memory alone.
FUZZ_FAST := profile dwarf
FUZZ_HELD := tests/fuzz/held.c tests/fuzz/parts.c
FUZZ_HELD_TARGETS := $(FUZZ_FAST:%=$(B)/tests/fuzz/fuzz_%) \
  $(FUZZ_FAST:%=$(B)/libfuzzer/fuzz_%)
$(FUZZ_HELD_TARGETS): FUZZ_MORE = $(FUZZ_HELD) $(FUZZ_WRAP:%=-Wl,--wrap=%)
$(FUZZ_HELD_TARGETS): FUZZ_WRAP := open close fstat access lseek pread geteuid
$(FUZZ_HELD_TARGETS): $(FUZZ_HELD)
$(B)/tests/fuzz/fuzz_dwarf $(B)/libfuzzer/fuzz_dwarf: \
  FUZZ_WRAP += jr_sections_unpack jr_texts_end

# Frame pointers for the default walker; functions stay what the source says.
PROGFLAGS := -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls \
  -fno-inline -pthread -Wl,-z,now
UNITFLAGS := $(INC) -I. -Ianalyzer -Ipreload -MMD -MP
SANITIZE := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined \
  -fno-sanitize-recover=undefined

# Functions of the library's of which a test has its own: __wrap_NAME.
FAKE_KERNEL := jp_sys_clock_sig jp_sys_sig jp_delay_sig
$(B)/tests/unit/test_pre_weights $(B)/tests/unit/test_pre_means \
  $(B)/tests/unit/test_pre_hrtimer: \
  WRAP := $(FAKE_KERNEL) \
  jp_sys_map_file_sig jp_sys_unmap_sig jp_sys_close_sig
$(B)/tests/unit/test_pre_last $(B)/tests/unit/test_pre_weights_real \
    $(B)/tests/unit/test_pre_calls \
  $(B)/tests/unit/test_pre_strata $(B)/tests/unit/test_pre_fenced \
  $(B)/tests/unit/test_pre_adopt \
  $(B)/tests/unit/test_pre_together \
  $(B)/tests/unit/test_pre_edges: WRAP := $(FAKE_KERNEL)
$(B)/tests/unit/test_pre_procmaps: WRAP := jp_sys_open_sig
$(B)/tests/unit/test_pre_jit_code: WRAP := jp_procmaps_query_sig
$(B)/tests/unit/test_pre_reads: WRAP := jp_self_read_sig
$(B)/tests/unit/test_pre_held: WRAP := $(FAKE_KERNEL) jp_traced_sig
$(B)/tests/unit/test_pre_control: WRAP := $(FAKE_KERNEL) \
  $(patsubst %,jp_%_sig,owned_check log_ring_rotate names_all usage_note \
  usage_end log_sync logfile_end reserve_end cfi_copy_all ring_ensure \
  reserve_make clock_fall_back_to_itimer maps_scan logfile_ensure jit_save \
  process_timer_run adopt_all clock_all mapfile_event sampling_flush_time \
  sampling_ensure_buffer complain filter_verdict)
$(B)/tests/unit/test_pre_maps_policy: WRAP := $(FAKE_KERNEL) \
  $(patsubst %,jp_%_sig,procmaps_open procmaps_close procmaps_next \
  procmaps_query procmaps_mark mapfile_ready mapfile_open module_put \
  module_gone maps_dirty)

$(B)/tests/unit/test_pre_walk_process: WRAP := $(patsubst %,jp_%_sig,self_read \
  maps_executable maps_anonymous maps_of_file maps_find maps_region sys)

$(UNIT_PRE): $(B)/%: %.c $(SIG_OBJ) $(PRE_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WARN) $(UNITFLAGS) $(LDFLAGS) \
	  $(WRAP:%=-Wl,--wrap=%) -o $@ $< \
	  $(SIG_OBJ) $(PRE_OBJ) -lcmocka -ldw -lelf -ldl -pthread

# The pure stages of the clock of real time are linked alone, so that they can
# call nothing else, and with a switch for each heuristic.
PURE_SRC := $(patsubst %,preload/sig/wall/%.c,classify account schedule \
  estimate) preload/sig/timers/random.c
$(UNIT_PURE): $(B)/%: %.c $(PURE_SRC) tests/unit/simulated.h \
  $(wildcard preload/sig/wall/*.h preload/sig/state/*.h preload/sig/timers/*.h)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WARN) -D_GNU_SOURCE -DJP_TEST_HEURISTICS \
	  $(filter-out -MMD -MP,$(UNITFLAGS)) $(LDFLAGS) -o $@ $< $(PURE_SRC) \
	  -lcmocka

$(UNIT_REP): $(B)/%: %.c $(REP_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WARN) -D_GNU_SOURCE $(UNITFLAGS) $(LDFLAGS) -o $@ $< \
	  $(REP_LIB) $(REP_LIBS) -lcmocka

$(B)/tests/programs/%.so: tests/programs/%.c
	@mkdir -p $(@D)
	$(CC) $(PROGFLAGS) $(WARN) -Iinclude -MMD -MP -fPIC -shared \
	  -ftls-model=initial-exec -o $@ $< -ldl

# As distributions build: no frame pointers, functions bound when first called.
$(B)/tests/programs/noframe: PROGFLAGS := -O2 -g -fomit-frame-pointer \
  -fno-inline -pthread -Wl,-z,lazy

$(B)/tests/programs/movedtext: PROGFLAGS := -O2 -g -fomit-frame-pointer
$(B)/tests/programs/selfprof: PROGFLAGS := -O1 -g -pg

$(B)/tests/programs/slow_entry: PROGFLAGS := -O2 -g -Wl,-e,slow_entry

$(B)/tests/programs/swap_a.so $(B)/tests/programs/swap_b.so: \
  PROGFLAGS := -O2 -g -fomit-frame-pointer

$(B)/tests/programs/throws $(B)/tests/programs/storm \
$(B)/tests/programs/recurse $(B)/tests/programs/inlined: $(B)/%: %.cc
	@mkdir -p $(@D)
	$(CXX) -O2 -g -fomit-frame-pointer -Wall -Wextra $(WERROR) -pthread \
	  -o $@ $< -ldl

$(B)/tests/tools/timeline $(B)/tests/tools/codes: tests/tools/runs.h
$(B)/tests/tools/timeline $(B)/tests/tools/codes $(B)/tests/tools/lines \
$(B)/tests/tools/runtimes: $(B)/%: %.c $(REP_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WARN) -D_GNU_SOURCE $(UNITFLAGS) $(LDFLAGS) -o $@ $< \
	  $(REP_LIB) $(REP_LIBS)

$(B)/tests/tools/torture: tests/tools/torture.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WARN) -Iinclude -MMD -MP -o $@ $<

$(B)/tests/tools/modellog: tests/tools/modellog.c tests/tools/modelmap.c \
  tests/tools/modellog.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WARN) -Iinclude -o $@ $(filter %.c,$^) -lm

$(B)/tests/soak/%.c.o: tests/soak/%.c tests/soak/storm.h
	@mkdir -p $(@D)
	$(CC) -O2 -g -std=gnu11 -pthread $(WARN) -c -o $@ $<

$(B)/tests/soak/%.cc.o: tests/soak/%.cc tests/soak/storm.h
	@mkdir -p $(@D)
	$(CXX) -O2 -g -Wall -Wextra $(WERROR) -pthread -c -o $@ $<

$(B)/tests/soak/storm: $(SOAK_OBJ)
	$(CXX) -pthread -o $@ $^ -ldl

# The bench's own.
$(B)/tests/programs/forkcost: tests/bench/forkcost.c
	@mkdir -p $(@D)
	$(CC) $(PROGFLAGS) $(WARN) -o $@ $<

$(B)/tests/programs/strangers: tests/programs/strangers.c \
    $(B)/tests/programs/stubs.so
	@mkdir -p $(@D)
	$(CC) $(PROGFLAGS) $(WARN) -Iinclude -MMD -MP -o $@ $< \
	  -L$(@D) -l:stubs.so -Wl,-rpath,'$$ORIGIN'

$(B)/tests/programs/unversioned.so: PROGFLAGS := -O1 -g -nodefaultlibs
$(B)/tests/programs/oldversions: tests/programs/oldversions.c \
    $(B)/tests/programs/unversioned.so
	@mkdir -p $(@D)
	$(CC) $(PROGFLAGS) $(WARN) -Iinclude -MMD -MP -o $@ $< -ldl \
	  -L$(@D) -l:unversioned.so -Wl,-rpath,'$$ORIGIN'

# No library is ever preloaded into it.
$(B)/tests/programs/static_busy: tests/programs/busy.c
	@mkdir -p $(@D)
	$(CC) $(PROGFLAGS) $(WARN) -Iinclude -static -o $@ $<

$(B)/tests/programs/%: tests/programs/%.c
	@mkdir -p $(@D)
	$(CC) $(PROGFLAGS) $(WARN) -Iinclude -MMD -MP -o $@ $< -ldl

$(FUZZ_PRE): $(B)/%: %.c tests/fuzz/driver.c $(SIG_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WARN) -D_GNU_SOURCE $(UNITFLAGS) $(LDFLAGS) -o $@ $< \
	  tests/fuzz/driver.c $(FUZZ_WRAP:%=-Wl,--wrap=%) $(SIG_OBJ)

$(FUZZ_PRE_LONG): $(B)/libfuzzer/%: tests/fuzz/%.c $(SIG_SRC)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(SANITIZE) -fsanitize=fuzzer $(WARN) -D_GNU_SOURCE \
	  $(UNITFLAGS) -o $@ $< $(FUZZ_WRAP:%=-Wl,--wrap=%) $(SIG_SRC)

$(filter-out $(FUZZ_PRE),$(FUZZ)): $(B)/%: %.c tests/fuzz/driver.c $(REP_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WARN) -D_GNU_SOURCE $(UNITFLAGS) $(LDFLAGS) -o $@ $< \
	  tests/fuzz/driver.c $(FUZZ_MORE) $(REP_LIB) $(REP_LIBS)

$(filter-out $(FUZZ_PRE_LONG),$(FUZZ_LONG)): $(B)/libfuzzer/%: tests/fuzz/%.c $(REP_SRC) $(JL_SRC) \
    $(PAGE_ASSETS)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(SANITIZE) -fsanitize=fuzzer $(WARN) -D_GNU_SOURCE \
	  $(UNITFLAGS) -Wa,-I$(B) -o $@ $< $(FUZZ_MORE) $(filter-out analyzer/main.c \
	  analyzer/launcher/main.c,$(REP_SRC) $(JL_SRC)) $(REP_LIBS)

programs: $(PROGRAMS)
fuzz-targets: $(FUZZ)
unit-build: $(UNIT)

# The parsers and their tests once more, with address and undefined-behaviour
# checks: the fuzz corpus is replayed through these.
asan-build:
	+@$(MAKE) --no-print-directory B=$(B)/asan CFLAGS="$(SANITIZE)" \
	  SIGFLAGS= fuzz-targets $(B)/asan/jprof-report $(B)/asan/jprof \
	  unit-rep-build
unit-rep-build: $(UNIT_REP)

# Every source through the other compiler, warnings being errors.  Only the
# library's optimizer has one of its own, of a handler's frame; tests and fuzz
# targets are read alone, since nobody runs what would be linked of them.
other-build:
	+@$(MAKE) --no-print-directory B=$(B)/other CC=$(FUZZ_CC) \
	  CFLAGS="-O0" rep-objects
	+@$(MAKE) --no-print-directory B=$(B)/other CC=$(FUZZ_CC) \
	  CFLAGS="-O1 -g" pre-objects
	+@$(MAKE) --no-print-directory B=$(B)/other CC=$(FUZZ_CC) \
	  CFLAGS="-O0" LDFLAGS="-fsyntax-only -Wno-unused-command-line-argument" \
	  test-objects
rep-objects: $(REP_OBJ) $(JL_OBJ)
pre-objects: $(START_OBJ) $(SIG_OBJ) $(PRE_OBJ) $(PROGRAMS) $(filter-out %_rs,$(ORACLE_BIN))
test-objects: $(UNIT) $(FUZZ)

include tests/sanitize.mk

check-build: all $(UNIT) $(PROGRAMS) $(ORACLE_BIN) $(TWICE_BIN) $(CROSS) asan-build \
  asan-pre-build tsan-build

CHECK = B=$(B) $(PYTHON) tests/check.py $(CHECK_ARGS)

check: check-build ## build and run every short test
	@$(CHECK)

$(B)/tests/unit/test_pre_race: | $(B)/tests/programs/swap_a.so \
  $(B)/tests/programs/swap_b.so

unit: $(UNIT) ## unit tests
	@$(CHECK) --only unit

check-run: all $(PROGRAMS) $(ORACLE_BIN) $(TWICE_BIN) $(CROSS) ## real programs under the library
	@$(CHECK) --only run

check-churn: all $(PROGRAMS) $(B)/tests/unit/test_pre_race ## a race test of 100,000 turns, 100,000 samples in a storm of exceptions, loads and allocations
	JP_RACE_TURNS=100000 $(B)/tests/unit/test_pre_race
	cd tests/run && B=$(abspath $(B)) JP_CHURN=100000 $(PYTHON) -m unittest test_churn

SOAK_SECONDS ?= 3600
check-soak: all $(PROGRAMS) ## everything at once for an hour (SOAK_SECONDS)
	cd tests/run && B=$(abspath $(B)) SOAK_SECONDS=$(SOAK_SECONDS) \
	  $(PYTHON) -m unittest -v test_soak

HOSTILE_SECONDS ?= 600
check-hostile: all $(PROGRAMS) ## another user's traps while root profiles, for ten minutes (HOSTILE_SECONDS)
	cd tests/run && B=$(abspath $(B)) JP_HOSTILE_SECONDS=$(HOSTILE_SECONDS) \
	  JP_HOSTILE_BY_HAND=1 $(PYTHON) -m unittest -v test_hostile \
	    test_hostile_folder test_hostile_report test_planted_files_stress

check-golden: all ## recorded inputs against expected reports
	@$(CHECK) --only golden

golden-update: all ## rewrite the expected reports; read the diff
	@$(CHECK) --only golden --update

fuzz-replay: asan-build $(PROGRAMS) ## the fuzz corpus and mutations of it, with ASan
	@$(CHECK) --only fuzz

asan: asan-build ## unit and golden tests of jprof-report with ASan
	@B=$(B)/asan $(PYTHON) tests/check.py --only unit,golden

# What the fuzzers start from: the golden inputs, packed, and an ELF file.
fuzz-seeds: $(PROGRAMS)
	@mkdir -p $(B)/libfuzzer/seeds
	@cp tests/golden/perfmap/*.map tests/golden/report/jprof-map* \
	  tests/data/jit/lli/*.dump tests/data/jit/wasmtime/*.dump \
	  tests/fuzz/corpus/launcher/* tests/fuzz/corpus/foreign/* \
	  $(B)/tests/programs/spinlib.so $(B)/libfuzzer/seeds
	@for text in tests/golden/*/*.jit; do \
	  $(PYTHON) tests/tools/packjit.py $$text \
	    $(B)/libfuzzer/seeds/$$(basename $$text) || exit 1; done
	@for text in tests/golden/report/*.pack; do \
	  $(PYTHON) tests/tools/pack.py $$text \
	    $(B)/libfuzzer/seeds/$$(basename $$text .pack) || exit 1; done
	@$(PYTHON) tests/tools/cfiseeds.py $(B)/libfuzzer/seeds-fuzz_cfi
	@mkdir -p $(B)/libfuzzer/seeds-fuzz_profile
	@$(PYTHON) tests/tools/profileseed.py $(B)/libfuzzer/seeds-fuzz_profile
	@mkdir -p $(B)/libfuzzer/seeds-fuzz_dwarf
	@$(PYTHON) tests/tools/dwarfseeds.py $(B)/libfuzzer/seeds-fuzz_dwarf
	@cp tests/fuzz/corpus/dwarf/* $(B)/libfuzzer/seeds-fuzz_dwarf

fuzz: $(FUZZ_LONG) fuzz-seeds ## long fuzzing with clang: FUZZ_SECONDS=60 a target
	@for target in $(FUZZ_LONG); do \
	  name=$${target##*/}; \
	  mkdir -p $(B)/libfuzzer/corpus-$$name $(B)/libfuzzer/seeds-$$name; \
	  $$target -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=200000 \
	    -artifact_prefix=$(B)/libfuzzer/$$name- -print_final_stats=1 \
	    $(B)/libfuzzer/corpus-$$name \
	    $(B)/libfuzzer/seeds-$$name $(B)/libfuzzer/seeds || exit 1; \
	done

# A target in great numbers, by turns led by coverage and, as that takes most of
# an input's time, by the replay's changes of what that found.  Nothing checks
# each access: that is left to `fuzz`; what crashes, hangs or has sums that
# differ is found all the same.
FUZZ_PLAIN := -O2 -g -fno-omit-frame-pointer
FUZZ_MUTATIONS ?= 1000
$(FUZZ_FAST:%=fuzz-%): fuzz-%: fuzz-seeds $(B)/tests/fuzz/fuzz_%
	+@$(MAKE) --no-print-directory B=$(B)/plain SANITIZE="$(FUZZ_PLAIN)" \
	  $(B)/plain/libfuzzer/fuzz_$*
	@mkdir -p $(B)/plain/corpus-$*
	@$(B)/plain/libfuzzer/fuzz_$* -max_total_time=$(FUZZ_SECONDS) \
	  -timeout=20 -rss_limit_mb=1500 -max_len=24000 -entropic=0 \
	  -close_fd_mask=2 -artifact_prefix=$(B)/plain/ -print_final_stats=1 \
	  $(B)/plain/corpus-$* $(B)/libfuzzer/seeds-fuzz_$*
	@$(B)/tests/fuzz/fuzz_$* -n $(FUZZ_MUTATIONS) $(B)/plain/corpus-$*/* \
	  2>/dev/null
fuzz-profile: ## fuzz_profile alone, fast, without ASan: FUZZ_SECONDS=60 FUZZ_MUTATIONS=1000
fuzz-dwarf: ## fuzz_dwarf alone, likewise

lint: all ## gate, layers, shape, analyzers, manual pages, both compilers
	@$(CHECK) --only lint

-include tests/bench/bench.mk
-include tests/transparency/transparency.mk
include tests/rhythm/rhythm.mk
include tests/wall/wall.mk
include tests/readers/readers.mk
-include tests/servers/servers.mk
-include $(addsuffix .d,$(basename $(UNIT) $(PROGRAMS) $(FUZZ)))
.PHONY: check check-build check-churn check-hostile check-soak check-run check-golden golden-update unit lint fuzz
.PHONY: fuzz-profile fuzz-dwarf fuzz-seeds fuzz-replay asan asan-build other-build rep-objects pre-objects
.PHONY: test-objects programs fuzz-targets
.PHONY: unit-build unit-rep-build
