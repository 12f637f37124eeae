/* The least that reading PE headers can cost: opens each file, reads its first 4 KiB, walks the section table and
 * looks for a writable .nv_fatb. No checks that a tool needs, no report: the peer that fixnvpe is held against. */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW = 4096, SECTION_HEADER = 40, SECTION_CHARACTERISTICS = 36, E_LFANEW = 60, FILE_HEADERS = 24 };

static uint32_t u16(const unsigned char* p) {
    return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t u32(const unsigned char* p) {
    return u16(p) | u16(p + 2) << 16;
}

/* 1 if a section of this name is writable, 0 if none is, -1 if it is no PE file. */
static int writable_fatbin(const unsigned char* window, size_t size) {
    if (size < E_LFANEW + 4 || memcmp(window, "MZ", 2) != 0) {
        return -1;
    }
    const size_t nt = u32(window + E_LFANEW);
    if (nt + FILE_HEADERS > size || memcmp(window + nt, "PE\0\0", 4) != 0) {
        return -1;
    }
    const unsigned char* section = window + nt + FILE_HEADERS + u16(window + nt + 20);
    int found = 0;
    for (uint32_t left = u16(window + nt + 6); left > 0 && section + SECTION_HEADER <= window + size; --left) {
        if (memcmp(section, ".nv_fatb", 8) == 0) {
            found |= (int)(u32(section + SECTION_CHARACTERISTICS) >> 31);
        }
        section += SECTION_HEADER;
    }
    return found;
}

int main(int argc, char** argv) {
    int writable = 0;
    for (int i = 1; i < argc; ++i) {
        unsigned char window[WINDOW];
        struct stat info;
        const int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
        if (fd == -1 || fstat(fd, &info) == -1) {
            perror(argv[i]);
            return 2;
        }
        const ssize_t size = pread(fd, window, sizeof window, 0);
        close(fd);
        if (size == -1) {
            perror(argv[i]);
            return 2;
        }
        writable += writable_fatbin(window, (size_t)size) == 1;
    }
    printf("%d\n", writable);
    return 0;
}
