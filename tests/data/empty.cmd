run echo.rise f --arg xs='[[]]'
exit 0
