run echo.rise g --arg xs=[1,300]
exit 2
