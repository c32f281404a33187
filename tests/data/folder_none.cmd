check inner
exit 2
