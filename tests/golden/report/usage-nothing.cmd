
status 64
