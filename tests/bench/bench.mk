# `make bench`: figures as ratios against peers, in one run.
BENCH_BIN := $(addprefix $(B)/tests/bench/,spawn stacks handler handler-nofp \
  empty.so)

bench: all $(BENCH_BIN) ## measure against peers; table in build/bench.txt
	$(PYTHON) tests/bench/bench.py $(B)

$(B)/tests/bench/%: tests/bench/%.c
	@mkdir -p $(@D)
	$(CC) -O2 -g $(WARN) -D_GNU_SOURCE -fno-omit-frame-pointer -o $@ $< -ldl

$(B)/tests/bench/handler-nofp: tests/bench/handler.c
	@mkdir -p $(@D)
	$(CC) -O2 -g $(WARN) -D_GNU_SOURCE -fomit-frame-pointer -o $@ $< -ldl

$(B)/tests/bench/empty.so: tests/bench/empty.c
	@mkdir -p $(@D)
	$(CC) -O2 $(WARN) -fPIC -shared -o $@ $<

.PHONY: bench
