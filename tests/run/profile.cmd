run ../programs/tiled_transpose.rise --set n=2 --arg xs=zeros --profile
