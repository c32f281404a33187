run echo.rise h --set n=3 --arg a=2 --arg xs.1=4 --arg xs.2=0.5
