--colour app jprof-log
status 64
