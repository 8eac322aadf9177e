-o /nonexistent/x.html app jprof-log
status 2
