run echo.rise g --arg xs=[1,2,3]
exit 0
