run echo.rise g --arg xs=1..3
exit 2
