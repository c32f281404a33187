run echo.rise f --arg xs=heads.txt
exit 2
