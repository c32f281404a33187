lower w0718.rise --strategy 'mapToGlobal at outermost map'
exit 0
