--format=text trace.json
status 2
