# `make bench`: figures as ratios against peers, in one run.
BENCH_BIN := $(addprefix $(B)/tests/bench/,spawn stacks handler handler-nofp \
  jitgig forkcost spin walk walk-nofp empty.so roots timed.so \
  timed-blind.so)

# So that the bench still builds when somebody wants it.
check-build: $(BENCH_BIN)

bench: all $(BENCH_BIN) ## measure against peers; table in build/bench.txt
	$(PYTHON) tests/bench/bench.py $(B) $(BENCH)

$(B)/tests/bench/%: tests/bench/%.c
	@mkdir -p $(@D)
	$(CC) -O2 -g $(WARN) -D_GNU_SOURCE -fno-omit-frame-pointer -o $@ $< -ldl

$(B)/tests/bench/handler-nofp: tests/bench/handler.c
	@mkdir -p $(@D)
	$(CC) -O2 -g $(WARN) -D_GNU_SOURCE -fomit-frame-pointer -o $@ $< -ldl

WALK_BENCH = $(CC) -O2 -g $(WARN) -D_GNU_SOURCE $(INC) -Ipreload -o $@ $< \
  $(SIG_OBJ) $(PRE_OBJ) -ldl -pthread

$(B)/tests/bench/walk: tests/bench/walk.c $(SIG_OBJ) $(PRE_OBJ)
	@mkdir -p $(@D)
	$(WALK_BENCH) -fno-omit-frame-pointer

$(B)/tests/bench/walk-nofp: tests/bench/walk.c $(SIG_OBJ) $(PRE_OBJ)
	@mkdir -p $(@D)
	$(WALK_BENCH) -fomit-frame-pointer

$(B)/tests/bench/empty.so: tests/bench/empty.c
	@mkdir -p $(@D)
	$(CC) -O2 $(WARN) -fPIC -shared -o $@ $<

# jprof with its handler timed, and one that does not look ahead.
$(B)/tests/bench/timed-blind.so: TIMED = -DTIMED_BLIND \
  -Wl,--wrap=jp_walk_ahead_sig
$(B)/tests/bench/timed.so $(B)/tests/bench/timed-blind.so: \
  tests/bench/timed.c $(SIG_OBJ) $(PRE_OBJ) \
  $(B)/preload/exports.ver
	@mkdir -p $(@D)
	$(CC) -O2 -g $(WARN) -D_GNU_SOURCE -fPIC -shared -Wl,-z,defs \
	  -Wl,--wrap=jp_handler_sig $(TIMED) -Wl,--version-script=$(B)/preload/exports.ver \
	  -o $@ $< $(SIG_OBJ) $(PRE_OBJ)

bench-stacks: all $(B)/tests/bench/roots ## the table of doc/bench.md: roots reached, beside perf
	$(PYTHON) tests/bench/reach.py $(B)

bench-torture: all $(B)/tests/tools/torture ## a million loads and moves of code, a million samples: names, CPU time, memory
	B=$(B) $(PYTHON) tests/bench/torture.py

bench-model: all $(B)/tests/tools/modellog $(B)/tests/bench/stacks ## large logs: CPU time, memory and size of reports; BENCH="--rows=deep OTHER-REPORT"
	$(PYTHON) tests/bench/model.py $(B) $(BENCH)

bench-report: all $(B)/tests/tools/modellog ## the report's page of a million samples in a headless Chromium: bytes, load, each change; BENCH="--runs=1"
	$(PYTHON) tests/bench/page.py $(B) $(BENCH)

bench-exports: all $(B)/tests/tools/modellog ## exports beside --format=collapsed: CPU time, memory, size
	$(PYTHON) tests/bench/exports.py $(B) $(BENCH)

bench-symbols: $(B)/tests/tools/lines ## inlined functions of FILE beside other readers
	@test -n "$(FILE)" || { echo "FILE=PATH of an ELF file with DWARF"; exit 64; }
	$(PYTHON) tests/bench/symbols.py $(B) $(FILE)

.PHONY: bench bench-exports bench-model bench-report bench-stacks bench-symbols \
  bench-torture
