prose.txt
status 64
