# make install, dist and deb.  Included by the Makefile.
VERSION := $(shell sed -n 's/^\#define JP_VERSION "\(.*\)"/\1/p' \
  include/jp_limits.h 2>/dev/null)
MAN1 := jprof.1 jprof-report.1
MAN3 := libjprof.3
MAN7 := JPROF_FLAGS.7

ROOT = $(call QUOTED,$(DESTDIR)$(PREFIX))
LIBROOT = $(call QUOTED,$(DESTDIR)$(LIBDIR))
MANROOT = $(ROOT)/share/man
BASHROOT = $(ROOT)/share/bash-completion/completions
ZSHROOT = $(ROOT)/share/zsh/site-functions
FISHROOT = $(ROOT)/share/fish/vendor_completions.d

# The launcher knows LIBDIR (LIBPLACE in the Makefile), so another one than
# `make` was given compiles a file of it again.
install: all ## install below DESTDIR: PREFIX, LIBDIR
	install -d $(ROOT)/bin $(LIBROOT)/jprof $(LIBROOT)/pkgconfig \
	  $(ROOT)/include $(MANROOT)/man1 $(MANROOT)/man3 $(MANROOT)/man7 \
	  $(BASHROOT) $(ZSHROOT) $(FISHROOT)
	install -m 755 $(B)/libjprof.so $(LIBROOT)/jprof/
	install -m 755 $(B)/jprof-report $(B)/jprof $(ROOT)/bin/
	install -m 644 include/jprof.h $(ROOT)/include/
	printf '%s\n' prefix=$(call QUOTED,$(PREFIX)) \
	  libdir=$(call QUOTED,$(LIBDIR)) 'includedir=$${prefix}/include' \
	  'library=$${libdir}/jprof/libjprof.so' '' 'Name: jprof' \
	  'Description: steers the profile that libjprof.so makes of a program' \
	  'Version: $(VERSION)' 'Cflags: -I"$${includedir}"' \
	  >$(LIBROOT)/pkgconfig/jprof.pc
	chmod 644 $(LIBROOT)/pkgconfig/jprof.pc
	install -m 644 $(MAN1:%=doc/%) $(MANROOT)/man1/
	install -m 644 $(MAN3:%=doc/%) $(MANROOT)/man3/
	install -m 644 $(MAN7:%=doc/%) $(MANROOT)/man7/
	install -m 644 scripts/completion/jprof.bash $(BASHROOT)/jprof
	ln -sf jprof $(BASHROOT)/jprof-report
	install -m 644 scripts/completion/_jprof $(ZSHROOT)/
	install -m 644 scripts/completion/jprof.fish $(FISHROOT)/
	ln -sf jprof.fish $(FISHROOT)/jprof-report.fish

uninstall: ## remove what install put there
	rm -f $(LIBROOT)/jprof/libjprof.so $(LIBROOT)/pkgconfig/jprof.pc \
	  $(ROOT)/bin/jprof-report $(ROOT)/bin/jprof $(ROOT)/include/jprof.h \
	  $(MAN1:%=$(MANROOT)/man1/%) $(MAN3:%=$(MANROOT)/man3/%) \
	  $(MAN7:%=$(MANROOT)/man7/%) $(BASHROOT)/jprof \
	  $(BASHROOT)/jprof-report $(ZSHROOT)/_jprof $(FISHROOT)/jprof.fish \
	  $(FISHROOT)/jprof-report.fish
	-rmdir $(LIBROOT)/jprof 2>/dev/null

# The same bytes whenever, and wherever, it is made of the same commit.
DIST := jprof-$(VERSION)
ARCHIVE := git -c tar.umask=0002 -c core.autocrlf=false -c core.abbrev=12 \
  archive --format=tar --prefix=$(DIST)/ HEAD
dist: ## jprof-VERSION.tar.gz of the last commit in the build folder
	@mkdir -p $(B)
	$(ARCHIVE) | gzip -9n >$(B)/$(DIST).tar.gz

# In a copy of the commit, so that no debian folder is in the tree.  DEBFULLNAME
# and DEBEMAIL, Debian's variables, say who makes the packages: their maintainer.
deb: ## Debian packages jprof and libjprof-dev in the build folder
	rm -rf $(B)/deb
	mkdir -p $(B)/deb
	$(ARCHIVE) | tar -C $(B)/deb -xf -
	cp -R $(B)/deb/$(DIST)/scripts/debian $(B)/deb/$(DIST)/debian
	[ -z "$$DEBEMAIL" ] || \
	  sed -i "s|jprof developers <[^>]*>|$${DEBFULLNAME-jprof} <$$DEBEMAIL>|" \
	  $(B)/deb/$(DIST)/debian/control $(B)/deb/$(DIST)/debian/changelog
	cd $(B)/deb/$(DIST) && dpkg-buildpackage -us -uc -b

check-deb: deb ## lintian and autopkgtest of the packages
	lintian --fail-on error,warning $(B)/deb/*.changes
	cd $(B)/deb/$(DIST) && autopkgtest -B ../*.deb . -- null

.PHONY: install uninstall dist deb check-deb
