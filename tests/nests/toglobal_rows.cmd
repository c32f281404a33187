lower toglobal.rise rows --strategy stored
