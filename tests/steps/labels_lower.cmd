lower labels.rise g --strategy 'mapFusion at #squares ; reduceToSeq at #total'
