lower toglobal.rise pair --strategy stored
