run echo.rise g --arg xs=decimals.csv
exit 2
