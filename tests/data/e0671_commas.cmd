run echo.rise g --arg xs=commas.csv
exit 2
