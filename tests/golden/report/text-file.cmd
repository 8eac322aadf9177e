app text-file
status 2
