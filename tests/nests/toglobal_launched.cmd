lower toglobal.rise launched
