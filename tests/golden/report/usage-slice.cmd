--from=0.5 --to=.5 app jprof-log
status 64
