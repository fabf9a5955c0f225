// Reads a space: `read DIRECTORY KEY` prints the value, and says so if there is none.
#include <hammerspace.h>
#include <stdio.h>
#include <string.h>

static int fail(hammerspace_error *error) {
    fprintf(stderr, "%s\n", hammerspace_error_message(error));
    hammerspace_error_free(error);
    return 2;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    const char *key = argv[2];

    hammerspace_space *space;
    hammerspace_error *error = hammerspace_space_open(argv[1], NULL, &space);
    if (error) return fail(error);

    // A long-lived process refreshes once per request, and takes a snapshot for reads that must agree with each other.
    hammerspace_table *snapshot = NULL;
    hammerspace_value value = {0};
    error = hammerspace_space_refresh(space, NULL);
    if (!error) error = hammerspace_space_snapshot(space, &snapshot);
    if (!error) error = hammerspace_table_get(snapshot, key, strlen(key), &value);
    if (!error && value.data) printf("%.*s\n", (int)value.len, value.data);
    if (!error && !value.data) printf("no %s among %llu keys\n", key, (unsigned long long)hammerspace_table_len(snapshot));

    hammerspace_value_free(&value);
    hammerspace_table_free(snapshot);
    hammerspace_space_free(space);
    return error ? fail(error) : 0;
}
