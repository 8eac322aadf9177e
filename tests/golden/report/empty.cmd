app empty
status 2
