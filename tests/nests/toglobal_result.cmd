lower toglobal.rise result --strategy stored
