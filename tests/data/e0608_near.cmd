run echo.rise g --arg xs=decimal.csv
exit 2
