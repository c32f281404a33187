#include <rise.h>

const char *plugin_version(void);
const char *plugin_version(void) { return rise_version(); }
