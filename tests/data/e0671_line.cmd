run echo.rise f --arg xs=ragged.csv
exit 2
