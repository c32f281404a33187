run echo.rise g --arg xs=wide.text
exit 2
