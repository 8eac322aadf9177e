-s many app jprof-log
status 64
