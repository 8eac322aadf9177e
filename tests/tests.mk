# tests: replaced by the tests room
