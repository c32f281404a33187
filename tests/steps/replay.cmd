lower trace.rise largest --replay trace.json --verify-each
