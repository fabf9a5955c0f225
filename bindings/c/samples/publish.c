// Writes and publishes: `publish DIRECTORY KEY VALUE` sets one key of a space; `publish DIRECTORY KEY` deletes it.
#include <hammerspace.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc != 3 && argc != 4) return 2;
    const char *key = argv[2];

    // Two versions stay on disk, so that hammerspace_space_rollback has something to go back to.
    hammerspace_options options = {0};
    options.keep = 2;

    hammerspace_space *space = NULL;
    hammerspace_writer *writer = NULL;
    uint64_t number = 0;
    // In turn, for up to a minute: no other update is lost, and this one is not.
    hammerspace_error *error = hammerspace_space_create(argv[1], &options, &space);
    if (!error) error = hammerspace_space_updater(space, 60000, &writer);
    if (!error && argc == 4) error = hammerspace_writer_put(writer, key, strlen(key), argv[3], strlen(argv[3]));
    if (!error && argc == 3) error = hammerspace_writer_delete(writer, key, strlen(key));
    if (!error) error = hammerspace_writer_publish(writer, &number);

    if (error) fprintf(stderr, "%s\n", hammerspace_error_message(error));
    else printf("published version %llu\n", (unsigned long long)number);

    int failed = error != NULL;
    hammerspace_error_free(error);
    hammerspace_writer_free(writer);
    hammerspace_space_free(space);
    return failed;
}
