lower scans.rise middle --strategy stored
