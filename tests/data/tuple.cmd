run echo.rise h --arg a=2 --arg xs.1=[1,2] --arg xs.2=[0.5,1]
exit 0
