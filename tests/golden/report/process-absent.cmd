--process=gone --merge app jprof-log jprof-log-9
status 2
