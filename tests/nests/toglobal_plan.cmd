lower toglobal.rise stored --plan
