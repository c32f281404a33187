run echo.rise g --arg "xs='[1,2]'"
exit 2
