run echo.rise f --arg xs=pairs.csv
exit 0
