lower w0718.rise --strategy 'mapToGlobal at outermost map ; mapToSeq at map inside mapGlobal'
exit 0
