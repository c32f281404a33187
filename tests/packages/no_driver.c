/* A program with a header of risec's, where there is no driver: it prints the code and the text of the error. */
#include <stdio.h>

#define SUM_IMPLEMENTATION
#include "sum.h"

int main(void)
{
    int error = sum_use_device(0);
    if (error == SUM_ERROR_NO_DRIVER)
        printf("%d: %s\n", error, sum_error_text(error));
    return error != 0;
}
