lower toglobal.rise next --strategy stored
