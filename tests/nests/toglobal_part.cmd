lower toglobal.rise part
