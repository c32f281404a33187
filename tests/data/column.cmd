run echo.rise g --arg xs=column.txt
exit 0
