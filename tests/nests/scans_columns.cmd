lower scans.rise columns --strategy stored
