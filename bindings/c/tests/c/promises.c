// What the header promises, one function after the other: `promises DIRECTORY SHARDS`, a directory to work in and one of four
// shards, in which the keys "a", "b" … "t" have the values 0 to 19. Exits with 1 at the first promise that is broken. With a third
// argument it breaks one itself: "leak", "overrun" or "lie".
#include <hammerspace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOLDS(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

static void works_at(int line, hammerspace_error *error) {
    if (error) {
        fprintf(stderr, "line %d: %s\n", line, hammerspace_error_message(error));
        exit(1);
    }
}
#define WORKS(call) works_at(__LINE__, call)

// The call fails with an error of this kind, which says something.
static void fails_at(int line, hammerspace_kind kind, hammerspace_error *error) {
    if (hammerspace_error_kind(error) != kind) {
        const char *said = error ? hammerspace_error_message(error) : "no error";
        fprintf(stderr, "line %d: kind %d, not %d: %s\n", line, hammerspace_error_kind(error), kind, said);
        exit(1);
    }
    HOLDS(strstr(hammerspace_error_message(error), hammerspace_error_finding(error)));
    hammerspace_error_free(error);
}
#define FAILS(kind, call) fails_at(__LINE__, HAMMERSPACE_KIND_##kind, call)

static char scratch[4096];

static const char *in_scratch(const char *name) {
    static char paths[4][8192];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

static hammerspace_error *put(hammerspace_writer *writer, const char *key, const char *value) {
    return hammerspace_writer_put(writer, key, strlen(key), value, strlen(value));
}

static int is(const char *data, size_t len, const char *text) {
    return data && len == strlen(text) && memcmp(data, text, len) == 0;
}

// Whether the key has this value, or none for NULL.
static int has(const hammerspace_table *table, const char *key, const char *expected) {
    hammerspace_value value;
    bool found;
    WORKS(hammerspace_table_get(table, key, strlen(key), &value));
    WORKS(hammerspace_table_contains(table, key, strlen(key), &found));
    HOLDS(found == (value.data != NULL));
    int right = expected ? is(value.data, value.len, expected) : !found;
    hammerspace_value_free(&value);
    HOLDS(!value.data && !value.len);
    return right;
}

static hammerspace_table *snapshot_of(const hammerspace_space *space) {
    hammerspace_table *table;
    WORKS(hammerspace_space_refresh(space, NULL));
    WORKS(hammerspace_space_snapshot(space, &table));
    return table;
}

static void publish(const hammerspace_space *space, const char *key, const char *value, uint64_t expected) {
    hammerspace_writer *writer;
    uint64_t number;
    WORKS(hammerspace_space_update(space, &writer));
    WORKS(put(writer, key, value));
    WORKS(hammerspace_writer_publish(writer, &number));
    HOLDS(number == expected && !hammerspace_writer_is_pending(writer) && !hammerspace_writer_is_pending(NULL));
    FAILS(INVALID, put(writer, key, value));
    FAILS(INVALID, hammerspace_writer_publish(writer, NULL));
    hammerspace_writer_free(writer);
}

static void a_snapshot_stays_what_it_is(void) {
    hammerspace_space *space;
    hammerspace_options options;
    memset(&options, 0, sizeof options);
    options.keep = 3;
    WORKS(hammerspace_space_create(in_scratch("space"), &options, &space));
    hammerspace_table *empty = snapshot_of(space);
    HOLDS(hammerspace_table_len(empty) == 0 && has(empty, "a", NULL));

    publish(space, "a", "1", 1);
    publish(space, "a", "2", 2);
    HOLDS(hammerspace_table_len(empty) == 0);
    bool changed;
    WORKS(hammerspace_space_refresh(space, &changed));
    HOLDS(changed);
    WORKS(hammerspace_space_refresh(space, &changed));
    HOLDS(!changed);
    hammerspace_table *second = snapshot_of(space);
    hammerspace_slice log, directory;
    WORKS(hammerspace_table_log(second, &log));
    WORKS(hammerspace_table_directory(second, &directory));
    HOLDS(log.data && directory.len > 36);
    hammerspace_value inside;
    WORKS(hammerspace_table_get(second, "a", 1, &inside));
    HOLDS(log.data < inside.data && inside.data + inside.len <= log.data + log.len);
    WORKS(hammerspace_table_log(empty, &log));
    WORKS(hammerspace_table_directory(empty, &directory));
    HOLDS(!log.data && !directory.data);
    publish(space, "", "", 3);
    hammerspace_table *third = snapshot_of(space);

    hammerspace_space_free(space);
    HOLDS(has(second, "a", "2") && has(second, "", NULL));
    HOLDS(has(third, "a", "2") && has(third, "", "") && hammerspace_table_len(third) == 2);
    hammerspace_info info;
    WORKS(hammerspace_table_info(third, &info));
    HOLDS(info.version == 3 && info.entries == 2 && info.compression == HAMMERSPACE_COMPRESSION_NONE);
    WORKS(hammerspace_table_info(empty, &info));
    HOLDS(info.version == 0 && info.compression == 0 && info.log_bytes == 0);
    hammerspace_table_free(empty);
    hammerspace_table_free(second);
    hammerspace_table_free(third);
}

static void versions_are_listed_and_gone_back_to(void) {
    hammerspace_space *space;
    hammerspace_versions *versions;
    hammerspace_version_info version;
    WORKS(hammerspace_space_open(in_scratch("space"), NULL, &space));
    WORKS(hammerspace_space_versions(space, &versions));
    HOLDS(hammerspace_versions_len(versions) == 3);
    for (size_t at = 0; at < 3; at++) {
        WORKS(hammerspace_versions_at(versions, at, &version));
        HOLDS(version.number == 3 - at && version.is_current == (at == 0) && version.entries == (at == 0 ? 2 : 1));
        HOLDS(version.bytes > 196 && version.published_ms > 1700000000000 && strlen(version.directory) > 30);
    }
    FAILS(INVALID, hammerspace_versions_at(versions, 3, &version));
    HOLDS(version.directory == NULL);
    hammerspace_versions_free(versions);

    uint64_t now;
    WORKS(hammerspace_space_rollback(space, 1, &now));
    HOLDS(now == 1);
    FAILS(MISSING, hammerspace_space_rollback(space, 0, &now));
    HOLDS(now == 0);
    hammerspace_table *table = snapshot_of(space);
    HOLDS(has(table, "a", "1"));
    hammerspace_table_free(table);

    WORKS(hammerspace_space_clear(space));
    table = snapshot_of(space);
    HOLDS(hammerspace_table_len(table) == 0);
    hammerspace_table_free(table);
    hammerspace_space_free(space);
}

static void what_is_not_published_leaves_nothing(void) {
    hammerspace_space *space;
    hammerspace_writer *writer;
    WORKS(hammerspace_space_open(in_scratch("space"), NULL, &space));
    WORKS(hammerspace_space_replace(space, &writer));
    WORKS(put(writer, "lost", "value"));
    hammerspace_value value;
    WORKS(hammerspace_writer_get(writer, "lost", 4, &value));
    HOLDS(is(value.data, value.len, "value"));
    hammerspace_value_free(&value);
    WORKS(hammerspace_writer_delete(writer, "lost", 4));
    WORKS(hammerspace_writer_get(writer, "lost", 4, &value));
    HOLDS(!value.data);
    hammerspace_writer_free(writer);
    hammerspace_table *table = snapshot_of(space);
    HOLDS(hammerspace_table_len(table) == 0);
    hammerspace_table_free(table);
    hammerspace_space_free(space);
}

static void write_numbers(const char *file, const char *index, uint32_t compression) {
    hammerspace_log *log;
    char key[32];
    WORKS(hammerspace_log_create(file, compression, 64, &log));
    for (int i = 0; i < 50; i++) {
        snprintf(key, sizeof key, "key %d", i);
        WORKS(hammerspace_log_put(log, key, strlen(key), key + 4, strlen(key) - 4));
    }
    WORKS(hammerspace_log_finish(log));
    FAILS(INVALID, hammerspace_log_finish(log));
    FAILS(INVALID, hammerspace_log_delete(log, "k", 1));
    hammerspace_log_free(log);

    WORKS(hammerspace_log_append(file, &log));
    WORKS(hammerspace_log_put(log, "nuls", 4, "\0\0", 2));
    WORKS(hammerspace_log_delete(log, "key 7", 5));
    WORKS(hammerspace_log_finish(log));
    hammerspace_log_free(log);
    WORKS(hammerspace_index_write(file, index));
}

static void a_table_is_read_in_every_way(uint32_t compression) {
    hammerspace_table *table;
    write_numbers(in_scratch("numbers.spl"), in_scratch("other-name"), compression);
    WORKS(hammerspace_table_open(in_scratch("numbers.spl"), in_scratch("other-name"), &table));
    HOLDS(hammerspace_table_len(table) == 50 && has(table, "key 8", "8") && has(table, "key 7", NULL));
    hammerspace_info info;
    WORKS(hammerspace_table_info(table, &info));
    HOLDS(info.puts == 51 && info.deletes == 1 && info.compression == compression && info.max_value_len == 2);

    hammerspace_slice keys[] = {{"key 1", 5}, {"key 7", 5}, {NULL, 0}, {"nuls", 4}};
    hammerspace_value values[4];
    WORKS(hammerspace_table_get_many(table, keys, 4, values));
    HOLDS(is(values[0].data, values[0].len, "1") && !values[1].data && !values[2].data);
    HOLDS(values[3].len == 2 && memcmp(values[3].data, "\0\0", 2) == 0);
    hammerspace_values_free(values, 4);
    WORKS(hammerspace_table_get_many(table, NULL, 0, NULL));
    keys[3].data = NULL;
    FAILS(INVALID, hammerspace_table_get_many(table, keys, 4, values));
    HOLDS(!values[0].data);

    // Cursors outlive their table, and need not be walked to the end.
    hammerspace_cursor *cursor, *unused;
    hammerspace_slice key, value;
    WORKS(hammerspace_table_cursor(table, &cursor));
    WORKS(hammerspace_table_cursor(table, &unused));
    hammerspace_table_free(table);
    int count = 0;
    for (;;) {
        WORKS(hammerspace_cursor_next(cursor, &key, &value));
        if (!key.data) break;
        if (count < 7) HOLDS(value.len == 1 && value.data[0] == '0' + count && key.len == 5);
        count++;
    }
    HOLDS(count == 50);
    WORKS(hammerspace_cursor_next(cursor, &key, &value));
    HOLDS(!key.data && !value.data);
    hammerspace_cursor_free(cursor);
    WORKS(hammerspace_cursor_next(unused, &key, &value));

    // Or many at once.
    hammerspace_entry entries[30];
    size_t moved;
    WORKS(hammerspace_cursor_next_many(unused, NULL, 0, &moved));
    HOLDS(moved == 0);
    FAILS(INVALID, hammerspace_cursor_next_many(unused, NULL, 1, &moved));
    WORKS(hammerspace_cursor_next_many(unused, entries, 30, &moved));
    HOLDS(moved == 30 && is(entries[5].key.data, entries[5].key.len, "key 6"));
    HOLDS(is(entries[0].value.data, entries[0].value.len, "1") && is(entries[5].value.data, entries[5].value.len, "6"));
    WORKS(hammerspace_cursor_next_many(unused, entries, 30, &moved));
    HOLDS(moved == 19);
    WORKS(hammerspace_cursor_next_many(unused, entries, 30, &moved));
    HOLDS(moved == 0);
    hammerspace_cursor_free(unused);
}

static void shards_are_one_table(const char *shards) {
    hammerspace_table *table;
    hammerspace_info info;
    WORKS(hammerspace_table_open_shards(shards, &table));
    WORKS(hammerspace_table_info(table, &info));
    HOLDS(hammerspace_table_len(table) == 20 && info.entries == 20 && info.puts == 20 && info.log_bytes > 4 * 84);
    HOLDS(has(table, "a", "0") && has(table, "t", "19") && has(table, "u", NULL));

    hammerspace_slice keys[] = {{"c", 1}, {"u", 1}, {"a", 1}, {"b", 1}};
    hammerspace_value values[4];
    WORKS(hammerspace_table_get_many(table, keys, 4, values));
    HOLDS(is(values[0].data, values[0].len, "2") && !values[1].data && is(values[3].data, values[3].len, "1"));
    hammerspace_values_free(values, 4);

    hammerspace_cursor *cursor;
    hammerspace_slice key, value;
    int count = -1;
    WORKS(hammerspace_table_cursor(table, &cursor));
    hammerspace_table_free(table);
    do {
        WORKS(hammerspace_cursor_next(cursor, &key, &value));
        count++;
    } while (key.data);
    HOLDS(count == 20);
    hammerspace_cursor_free(cursor);
    FAILS(MISSING, hammerspace_table_open_shards(scratch, &table));
    HOLDS(table == NULL);
}

static void what_is_wrong_is_found(void) {
    hammerspace_table *table;
    hammerspace_findings *findings;
    const char *log = in_scratch("numbers.spl"), *index = in_scratch("other-name");
    hammerspace_effort effort = {1 << 16, 1};
    WORKS(hammerspace_index_write_within(log, index, &effort));
    WORKS(hammerspace_table_open_with(log, index, HAMMERSPACE_PAGING_PREFETCH, 1 << 20, &table));
    HOLDS(has(table, "key 8", "8") && has(table, "key 8", "8") && has(table, "key 7", NULL));
    WORKS(hammerspace_table_verify(table, &findings));
    HOLDS(hammerspace_findings_count(findings) == 0 && !hammerspace_findings_at(findings, 0));
    hammerspace_findings_free(findings);
    hammerspace_table_free(table);

    // All slots are lost.
    FILE *file = fopen(index, "r+b");
    HOLDS(file && fseek(file, 112, SEEK_SET) == 0);
    for (int i = 0; i < 66 * 8; i++) HOLDS(fputc(0, file) == 0);
    HOLDS(fclose(file) == 0);
    WORKS(hammerspace_table_open(log, index, &table));
    WORKS(hammerspace_table_verify(table, &findings));
    HOLDS(hammerspace_findings_count(findings) > 50);
    const hammerspace_error *first = hammerspace_findings_at(findings, 0);
    HOLDS(hammerspace_error_kind(first) == HAMMERSPACE_KIND_CORRUPT && hammerspace_error_remedy(first));
    HOLDS(strcmp(hammerspace_error_file(first), index) == 0 && hammerspace_error_offset(first) < 1000);
    HOLDS(!hammerspace_findings_at(findings, 100));
    hammerspace_table_free(table);
    hammerspace_findings_free(findings);
    WORKS(hammerspace_index_write(log, index));
    FAILS(INVALID, hammerspace_table_verify(NULL, &findings));
    HOLDS(!findings && hammerspace_findings_count(NULL) == 0 && !hammerspace_findings_at(NULL, 0));
    hammerspace_findings_free(NULL);
}

static void shards_are_written(void) {
    hammerspace_table *table;
    hammerspace_findings *findings;
    const char *log = in_scratch("numbers.spl"), *index = in_scratch("other-name"), *shards = in_scratch("shards");
    uint32_t keys = HAMMERSPACE_SHARD_KEYS_STRINGS;
    FAILS(INVALID, hammerspace_shards_write(log, index, shards, 0, keys, 0, 0));
    FAILS(INVALID, hammerspace_shards_write(log, index, shards, 3, 2, 0, 0));
    WORKS(hammerspace_shards_write(log, index, shards, 3, keys, HAMMERSPACE_COMPRESSION_ZSTD, 4096));
    FAILS(INVALID, hammerspace_shards_write(log, index, shards, 3, keys, 0, 0));
    WORKS(hammerspace_table_open_shards(shards, &table));
    HOLDS(hammerspace_table_len(table) == 50 && has(table, "key 8", "8") && has(table, "key 7", NULL));
    WORKS(hammerspace_table_verify(table, &findings));
    HOLDS(hammerspace_findings_count(findings) == 0);
    hammerspace_findings_free(findings);
    hammerspace_table_free(table);
}

static void a_space_takes_its_options(void) {
    hammerspace_space *space;
    hammerspace_findings *findings;
    hammerspace_options options;
    memset(&options, 0, sizeof options);
    options.compression = HAMMERSPACE_COMPRESSION_SNAPPY;
    options.cache_bytes = 1 << 20;
    options.index.memory = 1 << 20;
    options.index.threads = 1;
    WORKS(hammerspace_space_create(in_scratch("cached"), &options, &space));
    hammerspace_table *table = snapshot_of(space);
    WORKS(hammerspace_table_verify(table, &findings));
    HOLDS(hammerspace_findings_count(findings) == 0);
    hammerspace_findings_free(findings);
    hammerspace_table_free(table);
    publish(space, "k", "v", 1);
    table = snapshot_of(space);
    HOLDS(has(table, "k", "v") && has(table, "k", "v"));
    WORKS(hammerspace_table_verify(table, &findings));
    HOLDS(hammerspace_findings_count(findings) == 0);
    hammerspace_findings_free(findings);
    hammerspace_table_free(table);
    hammerspace_space_free(space);
}

static void null_is_an_error_and_can_be_freed(void) {
    hammerspace_space *space = (hammerspace_space *)scratch;
    hammerspace_table *table = (hammerspace_table *)scratch;
    hammerspace_value value;
    bool found = true;
    FAILS(INVALID, hammerspace_space_open(NULL, NULL, &space));
    HOLDS(space == NULL);
    FAILS(INVALID, hammerspace_space_open(scratch, NULL, NULL));
    FAILS(INVALID, hammerspace_space_refresh(NULL, NULL));
    FAILS(INVALID, hammerspace_space_snapshot(NULL, &table));
    HOLDS(table == NULL);
    FAILS(INVALID, hammerspace_space_clear(NULL));
    FAILS(INVALID, hammerspace_space_rollback(NULL, 0, NULL));
    FAILS(INVALID, hammerspace_table_open(scratch, NULL, &table));
    FAILS(INVALID, hammerspace_table_get(NULL, "k", 1, &value));
    HOLDS(!value.data);
    FAILS(INVALID, hammerspace_table_contains(NULL, "k", 1, &found));
    HOLDS(!found);
    FAILS(INVALID, hammerspace_writer_put(NULL, "k", 1, "v", 1));
    FAILS(INVALID, hammerspace_log_finish(NULL));
    FAILS(INVALID, hammerspace_cursor_next(NULL, NULL, NULL));
    FAILS(INVALID, hammerspace_cursor_next_many(NULL, NULL, 1, NULL));
    HOLDS(hammerspace_table_len(NULL) == 0 && hammerspace_versions_len(NULL) == 0);
    HOLDS(hammerspace_error_kind(NULL) == HAMMERSPACE_KIND_NONE && !hammerspace_error_message(NULL));

    hammerspace_space_free(NULL);
    hammerspace_table_free(NULL);
    hammerspace_cursor_free(NULL);
    hammerspace_writer_free(NULL);
    hammerspace_log_free(NULL);
    hammerspace_versions_free(NULL);
    hammerspace_error_free(NULL);
    hammerspace_value_free(NULL);
    hammerspace_values_free(NULL, 3);
}

static void errors_say_what_where_and_what_to_do(void) {
    hammerspace_space *space;
    hammerspace_table *table;
    hammerspace_options options;
    memset(&options, 0, sizeof options);
    options.compression = 77;
    FAILS(INVALID, hammerspace_space_create(in_scratch("never"), &options, &space));
    options.compression = HAMMERSPACE_COMPRESSION_DEFAULT;
    options.paging = 6;
    FAILS(INVALID, hammerspace_space_create(in_scratch("never"), &options, &space));
    options.paging = HAMMERSPACE_PAGING_POPULATE;
    WORKS(hammerspace_space_open(in_scratch("space"), &options, &space));
    hammerspace_space_free(space);
    FAILS(MISSING, hammerspace_space_open(in_scratch("never"), NULL, &space));

    FILE *file = fopen(in_scratch("broken.spl"), "w");
    HOLDS(file && fputs("no log, and shorter than one", file) >= 0 && fclose(file) == 0);
    hammerspace_error *error = hammerspace_index_write(in_scratch("broken.spl"), in_scratch("broken.spi"));
    HOLDS(hammerspace_error_kind(error) == HAMMERSPACE_KIND_CORRUPT);
    HOLDS(strcmp(hammerspace_error_file(error), in_scratch("broken.spl")) == 0);
    HOLDS(hammerspace_error_offset(error) < 100 && hammerspace_error_remedy(error));
    hammerspace_error_free(error);

    error = hammerspace_table_open(in_scratch("no.spl"), in_scratch("no.spi"), &table);
    HOLDS(hammerspace_error_kind(error) == HAMMERSPACE_KIND_MISSING && !table);
    HOLDS(hammerspace_error_offset(error) == UINT64_MAX);
    hammerspace_error_free(error);
    HOLDS(strchr(hammerspace_version(), '.'));
}

static void *read_often(void *table) {
    for (int i = 0; i < 200; i++) HOLDS(has((const hammerspace_table *)table, "key 8", "8"));
    return NULL;
}

static void threads_share_a_table(void) {
    hammerspace_table *table;
    pthread_t threads[2];
    WORKS(hammerspace_table_open(in_scratch("numbers.spl"), in_scratch("other-name"), &table));
    for (int i = 0; i < 2; i++) HOLDS(pthread_create(&threads[i], NULL, read_often, table) == 0);
    for (int i = 0; i < 2; i++) HOLDS(pthread_join(threads[i], NULL) == 0);
    hammerspace_table_free(table);
}

static void a_child_reads_and_harms_nothing(void) {
    hammerspace_space *space;
    hammerspace_writer *writer;
    WORKS(hammerspace_space_create(in_scratch("forked"), NULL, &space));
    publish(space, "k", "v", 1);
    hammerspace_table *table = snapshot_of(space);
    WORKS(hammerspace_space_update(space, &writer));
    WORKS(put(writer, "k", "w"));

    pid_t child = fork();
    if (child == 0) {
        HOLDS(has(table, "k", "v"));
        FAILS(INVALID, hammerspace_writer_publish(writer, NULL));
        HOLDS(hammerspace_writer_is_pending(writer));
        FAILS(INVALID, hammerspace_writer_publish(writer, NULL));
        hammerspace_writer_free(writer);
        hammerspace_table_free(table);
        hammerspace_space_free(space);
        _exit(0);
    }
    int status;
    HOLDS(waitpid(child, &status, 0) == child && status == 0);

    WORKS(hammerspace_writer_publish(writer, NULL));
    hammerspace_writer_free(writer);
    hammerspace_table_free(table);
    table = snapshot_of(space);
    HOLDS(has(table, "k", "w"));
    hammerspace_table_free(table);
    hammerspace_space_free(space);
}

// Faults for the harness to find.
static void break_a_promise(const char *fault) {
    hammerspace_table *table;
    hammerspace_value value;
    WORKS(hammerspace_table_open(in_scratch("numbers.spl"), in_scratch("other-name"), &table));
    WORKS(hammerspace_table_get(table, "key 8", 5, &value));
    if (strcmp(fault, "lie") == 0) HOLDS(is(value.data, value.len, "9"));
    if (strcmp(fault, "overrun") == 0) printf("%d", value.data[value.len] == 'x');
    if (strcmp(fault, "leak") != 0) hammerspace_value_free(&value);
    hammerspace_table_free(table);
}

int main(int argc, char **argv) {
    HOLDS(argc > 2);
    snprintf(scratch, sizeof scratch, "%s", argv[1]);
    a_snapshot_stays_what_it_is();
    versions_are_listed_and_gone_back_to();
    what_is_not_published_leaves_nothing();
    a_table_is_read_in_every_way(HAMMERSPACE_COMPRESSION_NONE);
    a_table_is_read_in_every_way(HAMMERSPACE_COMPRESSION_SNAPPY);
    a_table_is_read_in_every_way(HAMMERSPACE_COMPRESSION_ZSTD);
    shards_are_one_table(argv[2]);
    what_is_wrong_is_found();
    shards_are_written();
    a_space_takes_its_options();
    null_is_an_error_and_can_be_freed();
    errors_say_what_where_and_what_to_do();
    threads_share_a_table();
    a_child_reads_and_harms_nothing();
    if (argc > 3) break_a_promise(argv[3]);
    puts("all promises hold");
    return 0;
}
