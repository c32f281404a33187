lower toglobal.rise stored --strategy stored
