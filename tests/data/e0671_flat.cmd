run echo.rise f --arg xs=[1,2]
exit 2
