--limit=0 app jprof-log
status 64
