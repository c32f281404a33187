lower stages.rise decayed --strategy stored
