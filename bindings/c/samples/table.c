// A Sparkey table: `table LOG INDEX` writes both files, looks up three keys at once, and walks through all pairs.
#include <hammerspace.h>
#include <stdio.h>
#include <string.h>

static hammerspace_slice text(const char *text) {
    hammerspace_slice slice = {text, strlen(text)};
    return slice;
}

static hammerspace_error *write_table(const char *file, const char *index) {
    const char *fruits[][2] = {{"apple", "red"}, {"lemon", "yellow"}, {"apple", "green"}};
    hammerspace_log *log;
    hammerspace_error *error = hammerspace_log_create(file, HAMMERSPACE_COMPRESSION_ZSTD, 0, &log);
    for (int i = 0; i < 3 && !error; i++) {
        error = hammerspace_log_put(log, fruits[i][0], strlen(fruits[i][0]), fruits[i][1], strlen(fruits[i][1]));
    }
    if (!error) error = hammerspace_log_finish(log);
    hammerspace_log_free(log);
    return error ? error : hammerspace_index_write(file, index);
}

static hammerspace_error *look_up(const hammerspace_table *table) {
    hammerspace_slice keys[] = {text("apple"), text("pear"), text("lemon")};
    hammerspace_value values[3];
    hammerspace_error *error = hammerspace_table_get_many(table, keys, 3, values);
    for (int i = 0; i < 3 && !error; i++) {
        printf("%s: %.*s\n", keys[i].data, values[i].data ? (int)values[i].len : 1, values[i].data ? values[i].data : "-");
    }
    hammerspace_values_free(values, 3);
    return error;
}

static hammerspace_error *walk(const hammerspace_table *table) {
    hammerspace_cursor *cursor;
    hammerspace_slice key, value;
    hammerspace_error *error = hammerspace_table_cursor(table, &cursor);
    while (!error && !(error = hammerspace_cursor_next(cursor, &key, &value)) && key.data) {
        printf("%.*s = %.*s\n", (int)key.len, key.data, (int)value.len, value.data);
    }
    hammerspace_cursor_free(cursor);
    return error;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    hammerspace_table *table = NULL;
    hammerspace_error *error = write_table(argv[1], argv[2]);
    if (!error) error = hammerspace_table_open(argv[1], argv[2], &table);
    if (!error) error = look_up(table);
    if (!error) error = walk(table);

    if (error) fprintf(stderr, "%s\n", hammerspace_error_message(error));
    int failed = error != NULL;
    hammerspace_error_free(error);
    hammerspace_table_free(table);
    return failed;
}
