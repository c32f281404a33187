run echo.rise g --set n=3 --arg xs=zeros:3
exit 2
