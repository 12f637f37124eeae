/* measure COMMAND...: runs it, and prints on standard error's last line what it took:
 *
 *   EXIT_STATUS WALL_NANOSECONDS PEAK_MEMORY_KIB WRITTEN_BLOCKS_OF_512
 *
 * The system's own account of the process and of those that it waited for. Written in C since a process inherits the
 * peak of the one that starts it: with Python there, nothing could be seen to take less than Python. */

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char** argv) {
    int status = 0;
    struct rusage used;
    const long long start = now();
    const pid_t child = argc > 1 ? fork() : -1;
    if (child == 0) {
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    if (child == -1 || wait4(child, &status, 0, &used) == -1) {
        perror("measure");
        return 127;
    }
    const long long wall = now() - start;
    fprintf(stderr, "\n%d %lld %ld %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), wall,
            used.ru_maxrss, used.ru_oublock);
    return 0;
}
