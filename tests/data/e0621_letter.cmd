run echo.rise g -n 100 --arg xs=ones
exit 2
