run echo.rise g --arg xs=range:10
exit 2
