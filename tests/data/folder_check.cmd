check folder echo.rise
exit 1
