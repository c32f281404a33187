run dimensions.rise deep --set n=2 --set m=2 --set k=2 --set l=66000 --arg xs=uniform:-5:5 --verify
