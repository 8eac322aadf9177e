app big-endian
status 2
