# Servers, their clients and tools, without jprof and under it; see servers.py.
# SERVERS_ARGS="nginx sshd" chooses.

SERVERS_ARGS ?=

check-servers: $(B)/libjprof.so $(B)/tests/servers/work servers-deps ## servers and tools at work, without jprof and under it: results and CPU time
	@B=$(B) $(PYTHON) tests/servers/servers.py $(SERVERS_ARGS)

servers-deps:
	@scripts/install-deps servers
	@scripts/get-source $(B)/suites \
	  postgresql-$$(ls /usr/lib/postgresql | sort -n | tail -1)

$(B)/tests/servers/work: tests/servers/work.c
	@mkdir -p $(@D)
	$(CC) $(PROGFLAGS) $(WARN) -o $@ $<

.PHONY: check-servers servers-deps
