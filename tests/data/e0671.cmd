run echo.rise f --arg xs=[[1,2],[3]]
exit 2
