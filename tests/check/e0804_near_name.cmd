lower w0718.rise --strategy 'mapToGlobl at map'
exit 1
