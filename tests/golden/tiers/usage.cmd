--jit-tiers=both app jprof-log
status 64
