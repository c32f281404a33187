run echo.rise h --arg a=2 --arg 'xs.1=(1, 2;3)' --arg xs.2=ones
exit 2
