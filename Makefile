# jprof: `make help` lists the targets.
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=
B ?= build
CC ?= gcc
CFLAGS ?= -O2 -g
STD ?= gnu11
ifneq ($(word 2,$(B)),)
$(error make cannot have blanks in the path of B, the build folder: $(B))
endif

# As one word of the shell, blanks and all.
QUOTED = '$(subst ','\'',$(1))'

# A warning of a compiler that came after us is no error for who only builds;
# it is one for the tests.
WERROR ?=
ifneq ($(filter check% lint unit asan% tsan% fuzz% %-build,$(MAKECMDGOALS)),)
WERROR := -Werror
endif
export WERROR STD

WARN = -std=$(STD) -Wall -Wextra -Wshadow -Wstrict-prototypes \
  -Wmissing-prototypes -Wvla -Wformat=2 -Wundef $(WERROR)
# Each process of a tree maps the library: none of it is there to begin jumps'
# targets at round addresses, a twentieth of its code.  (clang has no
# -falign-jumps.)
TIGHT := -falign-functions=4 -falign-loops=1
TIGHT += $(shell echo 'int none;' | $(CC) -Werror -falign-jumps=1 -c -x c - \
  -o /dev/null 2>/dev/null && echo -falign-jumps=1)
# $(call takes,FLAG): the flag, if the compiler, with its linker, takes it.
takes = $(shell echo 'int none;' | $(CC) -Werror -shared -fPIC \
  -Wl,--fatal-warnings $(1) -x c - -o /dev/null 2>/dev/null && echo $(1))
# Where one object of a process is not marked as fit for shadow stacks, the
# loader does without them in all of it.  The library's code is fit, and for
# branches that are guarded: what the compiler checks by itself it goes on to.
# (The atomics of aarch64's libgcc are marked by few distributions.)
MACHINE := $(shell $(CC) -dumpmachine)
ifneq ($(filter x86_64%,$(MACHINE)),)
GUARD := $(shell echo __CET__ | $(CC) $(CFLAGS) -E -P -x c - | grep -q '[0-9]' \
  || echo -fcf-protection=return)
endif
ifneq ($(filter aarch64%,$(MACHINE)),)
GUARD := -mbranch-protection=standard $(call takes,-mno-outline-atomics)
endif
LIBFLAGS := -D_GNU_SOURCE -fPIC -fvisibility=hidden -fno-omit-frame-pointer \
  -ftls-model=initial-exec -fno-stack-protector -fno-lto $(TIGHT) \
  $(call takes,$(GUARD))
# A hook that goes on by a last jump has left the stack: a wait would stand
# under the name of the function that it jumped to.
# Hooks surround system calls: they are to be small, a twentieth of the library.
HOOKFLAGS := -fno-optimize-sibling-calls $(if $(filter -O2 -O3,$(CFLAGS)),-Os)
SIGFLAGS := -Wframe-larger-than=1024 -U_FORTIFY_SOURCE
# noseparate-code and -O1 save the loader mappings and collisions: every
# program that the library is preloaded into pays for them at its start.
LIBLINK := -shared -Wl,-z,defs -Wl,-z,now -Wl,-z,noseparate-code \
  -Wl,-O1 -Wl,--hash-style=gnu -Wl,-soname,libjprof.so -nostartfiles
# For the tests, a part that is not marked is an error, if the linker can tell.
# (On x86-64 it tells of guarded branches as well, which not every compiler has
# by itself; test_protection reads what all objects are marked with.)
ifneq ($(WERROR),)
MARKED_x86_64 := $(if $(GUARD),,-Wl,-z,cet-report=error)
MARKED_aarch64 := -Wl,-z,bti-report=error
MARKED := $(MARKED_$(firstword $(subst -, ,$(MACHINE))))
LIBLINK += $(if $(MARKED),$(call takes,$(GUARD) -nostartfiles $(MARKED)))
endif

# On aarch64, whose pages may have 64 KiB, no zeros for a page's end.
ifneq ($(filter aarch64%,$(MACHINE)),)
LAYOUT := $(B)/preload/layout
# GNU ld works round an erratum of the Cortex-A53's (843419) in place, where it
# can: else each adrp at a page's end may cost a page of zeros.  test_aarch64
# sees that none is left.
LIBLINK += $(shell echo 'int none;' | $(CC) -shared -fPIC \
  -Wl,--fix-cortex-a53-843419=adr -x c - -o /dev/null 2>/dev/null && \
  echo -Wl,--fix-cortex-a53-843419=adr)
endif

# An #include is seen from the including file's own room, include/, preload/ or
# analyzer/.
INC := -Iinclude -iquote preload -iquote analyzer

# libdeflate unpacks debug information three times as fast as zlib: it is used
# where it is, by analyzer/symbol/elf/sections.c.
DEFLATE := $(shell echo 'int main(void) { return 0; }' | $(CC) $(CFLAGS) \
  $(LDFLAGS) -include libdeflate.h -x c - -ldeflate -o /dev/null \
  2>/dev/null && echo yes)
INC += $(DEFLATE:yes=-DJR_LIBDEFLATE)

# The oldest version of the symbols of this machine's glibc.
GLIBC_FIRST = $(shell echo 'JP_ARCH_GLIBC' | $(CC) $(CFLAGS) -D_GNU_SOURCE \
  $(INC) -include sig/arch/arch.h -E -x c - 2>/dev/null | sed -n '$$s/"//gp')

SIG_SRC := $(wildcard preload/sig/*.c preload/sig/*/*.c \
  preload/sig/*/*/*.c)
START_OBJ := $(B)/preload/hooks/base/start.o
PRE_SRC := $(filter-out preload/hooks/base/start.c,\
  $(wildcard preload/*.c preload/hooks/*/*.c))
JL_SRC := $(wildcard analyzer/launcher/*.c analyzer/launcher/*/*.c)
REP_SRC := $(filter-out $(JL_SRC),\
  $(wildcard analyzer/*.c analyzer/*/*.c analyzer/*/*/*.c \
  analyzer/*/*/*/*.c))
SIG_OBJ := $(SIG_SRC:%.c=$(B)/%.o)
PRE_OBJ := $(PRE_SRC:%.c=$(B)/%.o)
REP_OBJ := $(REP_SRC:%.c=$(B)/%.o)
REP_LIBS := -ldw -lelf -liberty -lcapstone -lz -lzstd -lm $(DEFLATE:yes=-ldeflate)
JL_OBJ := $(JL_SRC:%.c=$(B)/%.o)
# What the launcher shares with jprof-report; it needs no library but libc.
JL_SHARED := $(patsubst %,$(B)/analyzer/%.o,base/diag base/file base/mem \
  base/option base/ours base/utf8 read/line read/names read/secret read/tree)
# For tests: all of both but their mains.
REP_LIB := $(filter-out $(B)/analyzer/main.o $(B)/analyzer/launcher/main.o,\
  $(REP_OBJ) $(JL_OBJ))

# There while every object in $(B) was compiled with warnings as errors: what
# was compiled without is compiled again for the tests.
STRICT := $(B)/strict
ifneq ($(WERROR),)
$(STRICT):
	@mkdir -p $(@D)
	@touch $@
$(START_OBJ) $(SIG_OBJ) $(PRE_OBJ) $(REP_OBJ) $(JL_OBJ): $(STRICT)
else
LENIENT = @rm -f $(STRICT)
endif

all: $(B)/libjprof.so $(B)/jprof-report $(B)/jprof ## build everything

$(B)/libjprof.so: $(START_OBJ) $(SIG_OBJ) $(PRE_OBJ) $(B)/preload/exports.ver $(LAYOUT) \
  Makefile
	$(CC) $(CFLAGS) $(LDFLAGS) $(LIBLINK) $(LAYOUT:%=@%) \
	  -Wl,--version-script=$(B)/preload/exports.ver -o $@ $(START_OBJ) $(SIG_OBJ) \
	  $(PRE_OBJ)

$(B)/preload/layout: scripts/page-layout Makefile
	@mkdir -p $(@D)
	echo | $(CC) $(CFLAGS) $(LDFLAGS) $(LIBLINK) -Wl,--verbose -x c - \
	  -o /dev/null 2>/dev/null | scripts/page-layout $@.ld >$@

# What the library shows to a program is just this list.
$(B)/preload/exports.ver: preload/exported-symbols scripts/export-versions \
  preload/sig/arch/*.h
	@mkdir -p $(@D)
	scripts/export-versions script $(GLIBC_FIRST) <$< >$@

$(B)/jprof-report: $(REP_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(REP_LIBS)

$(B)/jprof: $(JL_OBJ) $(JL_SHARED)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

# Once, and not in each source, where the C library is another.
$(START_OBJ) $(SIG_OBJ) $(PRE_OBJ): Makefile | $(B)/preload/glibc
$(B)/preload/glibc:
	@mkdir -p $(@D)
	@echo '#include <features.h>' | $(CC) $(CFLAGS) -E -dM -x c -o $@ -
	@grep -q __GLIBC__ $@ || { rm -f $@; \
	  echo 'libjprof.so needs the GNU C library: doc/platforms.md' >&2; exit 1; }

# Where segments take 64 KiB each, call-frame information of code that runs in
# the handler alone, which is never on a stack that is walked, is left out.
ifneq ($(filter aarch64%,$(MACHINE)),)
$(filter $(B)/preload/sig/script/% $(B)/preload/sig/unwind/% \
  $(B)/preload/sig/wall/% $(B)/preload/sig/jit/%,$(SIG_OBJ)): \
  SIGFLAGS += -fno-asynchronous-unwind-tables -fno-unwind-tables
endif

# What runs seldom, or around system calls, is small.
$(B)/preload/sig/files/%.o $(B)/preload/sig/jit/%.o $(B)/preload/sig/os/%.o \
$(B)/preload/sig/clock/clock.o $(B)/preload/sig/clock/clock_itimer.o \
$(B)/preload/sig/clock/clock_perf.o $(B)/preload/sig/clock/process_timer.o \
$(B)/preload/sig/clock/rtc.o $(B)/preload/sig/clock/unseen.o \
$(B)/preload/sig/wall/%.o $(B)/preload/sig/clock/clock_timer.o \
$(B)/preload/sig/timers/timer.o $(B)/preload/sig/script/image.o \
$(B)/preload/sig/script/names.o $(B)/preload/sig/script/python_lines.o \
$(B)/preload/sig/script/python_version.o \
$(B)/preload/sig/adopt.o $(B)/preload/sig/control.o \
$(B)/preload/sig/kernel_threads.o $(B)/preload/sig/unwind/cfi/cfi_run.o \
$(B)/preload/sig/unwind/walk_hidden.o $(B)/preload/sig/state/thread.o \
$(B)/preload/sig/clock/clock_hrtimer.o $(B)/preload/sig/unwind/cfi/cfi.o \
$(B)/preload/sig/logfile.o $(B)/preload/sig/log/annex.o \
$(B)/preload/sig/log/share.o $(B)/preload/sig/log/reserve.o \
$(B)/preload/sig/log/mine.o $(B)/preload/sig/log/chunk.o \
$(B)/preload/sig/log/storage_area.o $(B)/preload/sig/log/storage_file.o \
$(B)/preload/sig/log/storage_ring.o \
$(B)/preload/sig/code/maps.o $(B)/preload/sig/code/module.o \
$(B)/preload/sig/code/procmaps.o $(B)/preload/sig/code/moved.o \
$(B)/preload/sig/owned_signals.o \
$(B)/preload/sig/state/dispatched.o $(B)/preload/sig/unwind/cfi/cfi_module.o \
$(B)/preload/sig/unwind/cfi/cfi_image.o \
$(B)/preload/sig/unwind/walk_rare.o $(B)/preload/sig/unwind/walk_libunwind.o \
$(B)/preload/sig/unwind/shake.o $(B)/preload/sig/timers/left.o \
$(B)/preload/sig/unwind/cfi/cfi_expr.o $(B)/preload/sig/unwind/cfi/cfi_ready.o \
$(B)/preload/sig/unwind/walk_back.o $(B)/preload/sig/unwind/walk_ahead.o \
$(B)/preload/sig/unwind/walk_first.o: SIGFLAGS += $(if \
  $(filter -O2 -O3,$(CFLAGS)),-Os)
$(B)/preload/sig/%.o: preload/sig/%.c
	@mkdir -p $(@D)
	$(LENIENT)
	$(CC) $(CFLAGS) $(WARN) $(LIBFLAGS) $(SIGFLAGS) $(INC) -MMD -MP -c -o $@ $<

$(B)/preload/%.o: preload/%.c
	@mkdir -p $(@D)
	$(LENIENT)
	$(CC) $(CFLAGS) $(WARN) $(LIBFLAGS) $(HOOKFLAGS) $(INC) -MMD -MP -c -o $@ $<

# The commit that `jprof --version` names, whoever owns the checkout; a tarball
# of git archive has it in scripts/commit.
COMMIT := $(shell [ -e .git ] && \
  git -c safe.directory='*' rev-parse --short=12 HEAD 2>/dev/null || \
  grep -v Format scripts/commit || echo unknown)
$(B)/commit: FORCE
	@mkdir -p $(@D)
	@echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' >$@

$(B)/analyzer/launcher/main.o: $(B)/commit
$(B)/analyzer/launcher/main.o: WARN += -DJP_COMMIT='"$(COMMIT)"'

# Where the launcher finds an installed library: below PREFIX, so that what is
# moved as a whole still works, or LIBDIR itself where that is elsewhere.  No
# path needs three slashes: they mark its start.
LIBPLACE := $(subst ///,,$(subst ///$(PREFIX)/,,///$(LIBDIR)))
LIBTEXT := "$(subst ",\",$(subst \,\\,$(LIBPLACE)))"
$(B)/libplace: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(call QUOTED,$(LIBTEXT)) | cmp -s - $@ || \
	  printf '%s\n' $(call QUOTED,$(LIBTEXT)) >$@

$(B)/analyzer/launcher/os/place.o: $(B)/libplace
$(B)/analyzer/launcher/os/place.o: WARN += \
  -DJP_LIB_PLACE=$(call QUOTED,$(LIBTEXT))

$(B)/analyzer/%.o: analyzer/%.c
	@mkdir -p $(@D)
	$(LENIENT)
	$(CC) $(CFLAGS) $(WARN) -D_GNU_SOURCE $(INC) -MMD -MP -c -o $@ $<

include analyzer/analyzer.mk
include tests/tests.mk
include scripts/install.mk

clean: ## remove what was built
	rm -rf $(B)

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' \
	  $(filter Makefile %.mk,$(MAKEFILE_LIST)) | expand -t 26

-include $(START_OBJ:.o=.d) $(SIG_OBJ:.o=.d) $(PRE_OBJ:.o=.d) $(REP_OBJ:.o=.d) $(JL_OBJ:.o=.d)
.PHONY: all clean help FORCE
.DEFAULT_GOAL := all
