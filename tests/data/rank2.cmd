run echo.rise f --arg xs='[[1, 2.5], [-inf nan]]'
exit 0
