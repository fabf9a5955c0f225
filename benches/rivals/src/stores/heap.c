/* Allocates and frees as standard input says: a slot and a size of 32 bits each, where no size frees. A last slot of all
   ones asks for a byte on standard output, which is also written when the table of slots is there. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char buffer[1 << 16];

static void answer(void) {
    putchar('.');
    fflush(stdout);
}

int main(int argc, char **argv) {
    size_t slots = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    void **objects = malloc((slots + 1) * sizeof *objects);
    uint32_t order[2];
    if (!objects) return 1;
    /* Touched now, so that it does not count as growth. */
    memset(objects, 0xff, (slots + 1) * sizeof *objects);
    setvbuf(stdin, buffer, _IOFBF, sizeof buffer);
    answer();
    while (fread(order, sizeof order, 1, stdin) == 1) {
        if (order[0] == UINT32_MAX) {
            answer();
        } else if (order[0] >= slots) {
            return 2;
        } else if (order[1] == 0) {
            free(objects[order[0]]);
        } else {
            objects[order[0]] = malloc(order[1]);
            if (!objects[order[0]]) return 1;
            memset(objects[order[0]], 0xab, order[1]);
        }
    }
    return 0;
}
