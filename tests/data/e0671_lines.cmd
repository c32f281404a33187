run echo.rise g --arg xs=pairs.csv
exit 2
