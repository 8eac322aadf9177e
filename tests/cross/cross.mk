# aarch64, by Debian's cross compiler: the whole library builds, and its walker
# is tested under qemu-user (tests/run/test_aarch64.py).  Included by
# tests/tests.mk.
CROSS_CC ?= aarch64-linux-gnu-gcc
CROSS_WAYS := none pac-ret+leaf
CROSS_BIN := $(CROSS_WAYS:%=$(B)/tests/cross/walk-%)

ifneq ($(shell command -v $(CROSS_CC)),)
CROSS := cross-build
endif

cross-build:
	+@$(MAKE) --no-print-directory B=$(B)/aarch64 CC=$(CROSS_CC) \
	  CFLAGS="-O2 -g -DJP_TEST_QEMU" $(B)/aarch64/libjprof.so cross-programs
cross-programs: $(CROSS_BIN)

$(B)/tests/cross/walk-%: tests/cross/walk.c $(SIG_OBJ) $(PRE_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WARN) -D_GNU_SOURCE -Iinclude -fomit-frame-pointer \
	  -mbranch-protection=$* -o $@ $< $(SIG_OBJ) $(PRE_OBJ)

.PHONY: cross-build cross-programs
