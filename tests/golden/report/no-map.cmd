--format=text app no-map
status 1
