# aarch64 and riscv64, by Debian's cross compilers: the library and the walker's
# test; on aarch64 with signed return addresses, with programs to profile, and
# where scripts/arm64-sysroot has brought the libraries, jprof-report.
# tests/run/test_aarch64*.py and test_riscv64.py run them under qemu-user.
# Included by tests/tests.mk.
CROSS_CC ?= aarch64-linux-gnu-gcc
CROSS_RISCV_CC ?= riscv64-linux-gnu-gcc
CROSS_SYSROOT := $(wildcard build-arm64)
CROSS_PROGRAMS := busy deep forker jitter landing noframe phases threads_many
CROSS_SIGN := -mbranch-protection=standard

CROSS :=
ifneq ($(shell command -v $(CROSS_CC)),)
CROSS += cross-build
endif
ifneq ($(shell command -v $(CROSS_RISCV_CC)),)
CROSS += cross-build-riscv64
endif

cross-build:
	+@$(MAKE) --no-print-directory B=$(B)/aarch64 CC=$(CROSS_CC) \
	  CFLAGS="-O2 -g -DJP_TEST_QEMU $(CROSS_SIGN)" \
	  PROGFLAGS="$(PROGFLAGS) $(CROSS_SIGN)" \
	  $(B)/aarch64/libjprof.so \
	  $(B)/aarch64/tests/cross/aarch64/walk-none \
	  $(B)/aarch64/tests/cross/aarch64/walk-pac-ret+leaf \
	  $(CROSS_PROGRAMS:%=$(B)/aarch64/tests/programs/%)
ifneq ($(CROSS_SYSROOT),)
	+@$(MAKE) --no-print-directory B=$(B)/aarch64 \
	  CC="$(CROSS_CC) --sysroot=$(abspath $(CROSS_SYSROOT))" \
	  CFLAGS="-O1 $(CROSS_SIGN)" $(B)/aarch64/jprof-report
endif

# Its compiler makes no call-frame information unasked.
cross-build-riscv64:
	+@$(MAKE) --no-print-directory B=$(B)/riscv64 CC=$(CROSS_RISCV_CC) \
	  CFLAGS="-O2 -g -DJP_TEST_QEMU -fasynchronous-unwind-tables" \
	  $(B)/riscv64/libjprof.so \
	  $(B)/riscv64/tests/cross/riscv64/walk

# Frames that a frame record alone leads through.
CROSS_RECORDS := -fno-omit-frame-pointer -fno-asynchronous-unwind-tables \
  -fno-unwind-tables
CROSS_SRC := tests/cross/walk.c tests/cross/records.c
CROSS_DEP := $(CROSS_SRC) tests/cross/records.h $(wildcard \
  tests/cross/*/machine.h) $(SIG_OBJ) $(PRE_OBJ)

# $(call cross_walk,MACHINE,FLAGS)
define cross_walk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WARN) -D_GNU_SOURCE $(2) $(CROSS_RECORDS) -c \
	  -o $@.records.o tests/cross/records.c
	$(CC) $(CFLAGS) $(WARN) -D_GNU_SOURCE $(INC) -iquote tests/cross/$(1) \
	  -fomit-frame-pointer -fasynchronous-unwind-tables $(2) -o $@ tests/cross/walk.c $@.records.o \
	  $(SIG_OBJ) $(PRE_OBJ)
endef

$(B)/tests/cross/aarch64/walk-%: $(CROSS_DEP)
	$(call cross_walk,aarch64,-mbranch-protection=$*)

$(B)/tests/cross/riscv64/walk: $(CROSS_DEP)
	$(call cross_walk,riscv64)

.PHONY: cross-build cross-build-riscv64
