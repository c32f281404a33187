int own(void);
int own(void) { return 3; }
