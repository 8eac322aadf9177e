# The oracle: the walker against libunwind and gdb (x86-64).  Included by
# tests/tests.mk.  The programs are built in the ways that make a walk hard:
# with and without optimization, with and without frame pointers.
RUSTC ?= rustc
ORACLE := $(B)/tests/oracle
ORACLE_WAYS := O0 O2 O2nofp
ORACLE_O0 := -O0
ORACLE_O2 := -O2 -fno-omit-frame-pointer
ORACLE_O2nofp := -O2 -fomit-frame-pointer -Wl,-z,lazy
ORACLE_BIN := $(ORACLE_WAYS:%=$(ORACLE)/shapes-%) \
  $(ORACLE_WAYS:%=$(ORACLE)/shapes_cc-%)
ifeq ($(shell uname -m),x86_64)
ORACLE_BIN += $(ORACLE)/oracle.so
endif
ifneq ($(shell command -v $(RUSTC)),)
ORACLE_BIN += $(ORACLE)/shapes_rs
endif

# oracle.o last: its constructor runs after the library's.
$(ORACLE)/oracle.so: tests/oracle/oracle.c tests/oracle/risky.h \
  $(SIG_OBJ) $(PRE_OBJ) $(B)/preload/exports.ver
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WARN) $(LIBFLAGS) $(INC) -c -o $(@:.so=.o) $<
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,defs -Wl,-z,now \
	  -Wl,--version-script=$(B)/preload/exports.ver -o $@ $(SIG_OBJ) \
	  $(PRE_OBJ) $(@:.so=.o)

$(ORACLE)/shapes-%: tests/oracle/shapes.c
	@mkdir -p $(@D)
	$(CC) -g $(ORACLE_$*) $(WARN) -pthread -o $@ $<

$(ORACLE)/shapes_cc-%: tests/oracle/shapes.cc
	@mkdir -p $(@D)
	$(CXX) -g $(ORACLE_$*) -Wall -Wextra $(WERROR) -pthread -o $@ $<

$(ORACLE)/shapes_rs: tests/oracle/shapes.rs
	@mkdir -p $(@D)
	$(RUSTC) -O -o $@ $<

check-oracle: $(ORACLE_BIN) ## many more stacks against libunwind and gdb
	cd tests/run && B=$(abspath $(B)) ORACLE_LONG=1 $(PYTHON) -m unittest \
	  -v test_oracle

.PHONY: check-oracle
