# The checked build: the library, walking each stack twice, with the memory of
# the last walk and without.  Included by tests/tests.mk.
TWICE := $(B)/tests/twice
ifeq ($(shell uname -m),x86_64)
TWICE_BIN := $(TWICE)/twice.so
endif

$(TWICE)/twice.so: tests/twice/twice.c tests/oracle/risky.h \
  $(SIG_OBJ) $(PRE_OBJ) $(B)/preload/exports.ver
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WARN) $(LIBFLAGS) $(INC) -c -o $(@:.so=.o) $<
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,defs -Wl,-z,now \
	  -Wl,--wrap=jp_walk_sig -Wl,--version-script=$(B)/preload/exports.ver \
	  -o $@ $(SIG_OBJ) $(PRE_OBJ) $(@:.so=.o)

check-twice: all $(TWICE_BIN) $(PROGRAMS) $(ORACLE_BIN) ## ten million stacks walked with and without the memory of the last
	cd tests/run && B=$(abspath $(B)) JP_TWICE=10000000 $(PYTHON) -m unittest \
	  -v test_twice

.PHONY: check-twice
