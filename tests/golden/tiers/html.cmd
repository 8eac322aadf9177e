app jprof-log
