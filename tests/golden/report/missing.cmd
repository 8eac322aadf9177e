app missing
status 2
