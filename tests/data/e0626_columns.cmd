run echo.rise h --arg a=1 --arg 'xs=[[1, 2.5], [3, 4.5]]'
exit 2
