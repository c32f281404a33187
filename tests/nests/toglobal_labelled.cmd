lower toglobal.rise labelled
