run echo.rise f --arg xs=brackets.txt
exit 0
