/* `risec check` on files that are cut off ends with exit code 0, or with 1 and an error, and no sanitizer finds anything.
 *
 *     test_cut STEP FILE.rise... [STEP FILE.rise...]...
 *
 * Each file is cut off at every STEP-th byte, and checked by the very function that main calls. A file has a process of its own, which ends with the search for
 * leaks: to start a process with sanitizers takes far longer than to check a text. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/driver.h"
#include "unit.h"

enum { LONGEST = 1 << 20, SAID = 1 << 16, SECONDS = 120, WRONG = 99 };

/* Where a child is; its parent tells when it ends there. */
typedef struct Place {
    size_t end;
    long checked;
} Place;

static Place *place;

static size_t read_some(const char *path, char *to, size_t most)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    size_t size = fread(to, 1, most, file);
    fclose(file);
    return size;
}

static bool write_whole(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    return file && (fwrite(text, 1, size, file) == size) & (fclose(file) == 0);
}

/* Whatever the command printed since the last one, and a sanitizer that does not end the process. */
static bool said_well(int status, char *said)
{
    fflush(stdout);
    ssize_t n = pread(STDERR_FILENO, said, SAID - 1, 0);
    if (n < 0)
        return false;
    said[n] = 0;
    bool good = (status == STATUS_GOOD || (status == STATUS_PROGRAM && strstr(said, "error["))) && !strstr(said, "Sanitizer") && !strstr(said, "runtime error");
    return good && ftruncate(STDERR_FILENO, 0) == 0 && lseek(STDERR_FILENO, 0, SEEK_SET) == 0;
}

/* In the child: `log` takes what is printed, `cut` is the file. */
static int check_cuts(const char *text, size_t size, size_t step, const char *cut, const char *log)
{
    int fd = open(log, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, STDERR_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
        return WRONG;
    close(fd);
    char *said = malloc(SAID);
    int result = 0;
    for (place->end = 0; place->end < size && result == 0; place->end += step) {
        char *argv[] = {"risec", "check", (char *)cut, NULL};
        alarm(SECONDS);
        if (!write_whole(cut, text, place->end) || !said_well(driver_command(3, argv), said))
            result = WRONG;
        else
            place->checked++;
    }
    free(said);
    return result;
}

static void check_file(const char *path, size_t step, const char *cut, const char *log)
{
    char *text = malloc(LONGEST);
    size_t size = read_some(path, text, LONGEST);
    int status = -1;
    *place = (Place){0, 0};
    fflush(stdout);
    pid_t child = CHECK(size > 0 && size < LONGEST) ? fork() : -1;
    if (child == 0) {
        int result = check_cuts(text, size, step, cut, log);
        free(text);
        exit(result);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    /* Each of the texts counts: a child that ends too early leaves some out. */
    unit_checks += place->checked;
    if (!CHECK(child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 && place->checked == (long)((size + step - 1) / step))) {
        printf("%s, cut off at byte %zu (or leaks, at its end): wait status %d, and it said:\n", path, place->end, status);
        size = read_some(log, text, LONGEST - 1);
        printf("%.*s\n", (int)size, text);
    }
    free(text);
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");
    char folder[4096], cut[sizeof folder + 16], log[sizeof folder + 16];
    snprintf(folder, sizeof folder, "%s/risec-cut-XXXXXX", tmp ? tmp : "/tmp");
    place = mmap(NULL, sizeof *place, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(mkdtemp(folder) && place != MAP_FAILED))
        return unit_end();
    snprintf(cut, sizeof cut, "%s/cut.rise", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    size_t step = 1;
    for (int i = 1; i < argc; i++) {
        long number = strtol(argv[i], NULL, 10);
        if (number > 0)
            step = (size_t)number;
        else
            check_file(argv[i], step, cut, log);
    }
    unlink(cut);
    unlink(log);
    rmdir(folder);
    munmap(place, sizeof *place);
    return unit_end();
}
