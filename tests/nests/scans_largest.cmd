lower scans.rise largest --strategy stored
