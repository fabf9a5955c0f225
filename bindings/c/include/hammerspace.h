// Hammerspace for C: one copy of your data per machine, off every heap, shared by every process, read at memory speed.
//
// Written by cbindgen from bindings/c/src; refresh it with `cargo xtask header`.
//
// Errors.   A function that can fail returns NULL, or an error, which the caller frees. Its results go to where the other
//           arguments point; when it fails they are set to NULL, 0 or false. A missing key is not an error. No panic, signal
//           handler or exit of ours crosses into the caller.
// Handles.  Whatever a function hands out as a pointer to a struct is freed by the function that ends in _free, once, in any
//           order: each handle keeps open what it needs. Every _free takes NULL. No other argument may be NULL unless it
//           says so; those that are give an error of kind INVALID.
// Bytes.    Keys and values are bytes with a length, and may hold NULs. Keys are shorter than 2 GiB. Paths end with a NUL.
//           What is passed in is read during the call only, and never freed.
// Threads.  Spaces, tables and errors may be used from any number of threads at once. Writers, logs and cursors may move
//           between threads, but are used by one at a time. A handle is freed when nobody uses it any more.
// Forks.    A child may go on reading with its parent's handles, and frees them without harm to the parent. It cannot write
//           with them: it takes writers of its own.
// Files.    Nobody may shorten files that are open here: reading past the new end ends the process (SIGBUS).


#ifndef HAMMERSPACE_H
#define HAMMERSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What to do about an error. The list is closed.
typedef enum hammerspace_kind {
    // No error.
    HAMMERSPACE_KIND_NONE = 0,
    // Stored bytes break a promise of their format: restore, rebuild or replace them.
    HAMMERSPACE_KIND_CORRUPT = 1,
    // Well-formed, but newer than this build, or an option it does not have: use a newer build.
    HAMMERSPACE_KIND_UNSUPPORTED = 2,
    // Somebody else holds what is needed: try again later.
    HAMMERSPACE_KIND_BUSY = 3,
    // A full disk, a memory limit, or a limit of a format: make room.
    HAMMERSPACE_KIND_FULL = 4,
    // The caller asked for something that cannot be: change the call.
    HAMMERSPACE_KIND_INVALID = 5,
    // The operating system denies access: change the rights or the user.
    HAMMERSPACE_KIND_PERMISSION = 6,
    // Something that must be there is not: create it, or correct the path. (A missing key is not an error.)
    HAMMERSPACE_KIND_MISSING = 7,
    // The process that owns the data died: adopt the data, or restart the owner.
    HAMMERSPACE_KIND_OWNER_DEAD = 8,
    // Anything else the operating system reports: read the message.
    HAMMERSPACE_KIND_IO = 9,
    // The data changed since it was read, so a change to it was not made: read again, and make it again.
    HAMMERSPACE_KIND_CHANGED = 10,
    // A bug in this library: report it, and free the handles that the call was about.
    HAMMERSPACE_KIND_INTERNAL = 11,
} hammerspace_kind;

// How entries are packed.
typedef enum hammerspace_compression {
    // As in the version that a writer starts from; new ones are not compressed.
    HAMMERSPACE_COMPRESSION_DEFAULT = 0,
    // Not compressed: values are slices of the mapped file.
    HAMMERSPACE_COMPRESSION_NONE = 1,
    // Blocks of snappy.
    HAMMERSPACE_COMPRESSION_SNAPPY = 2,
    // Blocks of zstd.
    HAMMERSPACE_COMPRESSION_ZSTD = 3,
} hammerspace_compression;

// What a power cut may take.
typedef enum hammerspace_durability {
    // Nothing that was published. The default.
    HAMMERSPACE_DURABILITY_FULL = 0,
    // Whatever the kernel had not written yet: for data that can be loaded again.
    HAMMERSPACE_DURABILITY_NONE = 1,
} hammerspace_durability;

// How the pages of the files come into memory, and whether they stay.
typedef enum hammerspace_paging {
    // When they are touched, with a few around them. The default.
    HAMMERSPACE_PAGING_ON_DEMAND = 0,
    // When they are touched, and alone: for files larger than memory.
    HAMMERSPACE_PAGING_RANDOM = 1,
    // The kernel starts to read the files, in the background.
    HAMMERSPACE_PAGING_PREFETCH = 2,
    // All before opening returns.
    HAMMERSPACE_PAGING_POPULATE = 3,
    // The same, and they stay; needs the right to lock so much memory.
    HAMMERSPACE_PAGING_LOCK = 4,
    // A private copy in huge pages, which is not shared with other processes.
    HAMMERSPACE_PAGING_HUGE_PAGES = 5,
} hammerspace_paging;

// What the keys of shards are hashed as.
typedef enum hammerspace_shard_keys {
    // Bytes. Scio asks for these shards by Array[Byte].
    HAMMERSPACE_SHARD_KEYS_BYTES = 0,
    // Strings in UTF-8, as Scala hashes them. Scio asks for these by String.
    HAMMERSPACE_SHARD_KEYS_STRINGS = 1,
} hammerspace_shard_keys;

// A walk through a table, which it keeps open for itself.
typedef struct hammerspace_cursor hammerspace_cursor;

// Why a function failed: what was found, where, and what to do.
typedef struct hammerspace_error hammerspace_error;

// A list of all that is wrong with a table.
typedef struct hammerspace_findings hammerspace_findings;

// A log file being written. Nothing of it is seen before it is finished.
typedef struct hammerspace_log hammerspace_log;

// What holds the bytes of a value that had to be unpacked.
typedef struct hammerspace_owner hammerspace_owner;

// A hash map in a directory, shared by every process that opens it. Reads one version, until it is refreshed.
typedef struct hammerspace_space hammerspace_space;

// Keys and their values, which never change: a version of a space, a Sparkey log and its index, or a directory of shards.
typedef struct hammerspace_table hammerspace_table;

// A list of versions.
typedef struct hammerspace_versions hammerspace_versions;

// The next version of a space, private until it is published. Freed before that, it leaves nothing behind.
typedef struct hammerspace_writer hammerspace_writer;

// A value: bytes, and what keeps them.
//
// The bytes are valid until hammerspace_value_free, and no longer than the table they came from. Freeing costs nothing
// where the table is not compressed: its values lie in the mapped file.
typedef struct hammerspace_value {
    // The first byte; NULL if the key is not there.
    const char *data;
    // How many bytes there are.
    size_t len;
    // For the library: what hammerspace_value_free frees.
    struct hammerspace_owner *owner;
} hammerspace_value;

// Bytes that somebody else owns. They need not end with a NUL, and may hold any.
typedef struct hammerspace_slice {
    // The first byte. NULL means that there is nothing: no key, no value. Of empty bytes it is not NULL when we give
    // them, and may be NULL when you do.
    const char *data;
    // How many bytes there are.
    size_t len;
} hammerspace_slice;

// A key and its value.
typedef struct hammerspace_entry {
    // The key.
    struct hammerspace_slice key;
    // The value.
    struct hammerspace_slice value;
} hammerspace_entry;

// What making an index may take. All zeros are the defaults.
typedef struct hammerspace_effort {
    // Bytes of memory; what does not fit goes to a file without a name, beside the index. 0: 256 MiB, which is enough for 100
    // million keys.
    uint64_t memory;
    // Threads. 0: as many as the machine runs at once.
    uint32_t threads;
} hammerspace_effort;

// How a space is opened and written. All zeros are the defaults: `hammerspace_options options = {0};`
typedef struct hammerspace_options {
    // A hammerspace_durability.
    uint32_t durability;
    // A hammerspace_compression, for new versions.
    uint32_t compression;
    // Bytes per block of compressed versions, before compression. 0: as before, else 4096.
    uint32_t block_size;
    // How many versions stay on disk after a publication, the current one included. 0: 1.
    uint32_t keep;
    // How often hammerspace_space_refresh looks at the directory itself, in milliseconds: for publications that nobody
    // announces, such as those of the original gem. 0: 100. UINT64_MAX: never.
    uint64_t poll_ms;
    // A hammerspace_paging, for the versions that are read.
    uint32_t paging;
    // Open the space also if its current version is damaged: it then reads as empty until it is mended by a replacing
    // writer, a rollback or a clear.
    bool mend;
    // Bytes of memory for decoded blocks of compressed versions, shared by the threads of this process. 0: none.
    uint64_t cache_bytes;
    // For the indexes of new versions.
    struct hammerspace_effort index;
} hammerspace_options;

// What a table is made of; of shards, all of them together.
typedef struct hammerspace_info {
    // Keys.
    uint64_t entries;
    // Puts in the log, those of keys that were overwritten or deleted since included.
    uint64_t puts;
    // Deletes in the log.
    uint64_t deletes;
    // Bytes of the log.
    uint64_t log_bytes;
    // Bytes of the index.
    uint64_t index_bytes;
    // Bytes of dead entries in the log, before compression.
    uint64_t garbage_bytes;
    // The longest key, in bytes; keys of deletes count.
    uint64_t max_key_len;
    // The longest value that was ever put, in bytes.
    uint64_t max_value_len;
    // The number of the version; 0 if this is no version of a space, or one without a number.
    uint64_t version;
    // A hammerspace_compression; 0 for an empty space, and for shards that differ.
    uint32_t compression;
    // Bytes per block before compression, the largest of all shards; without meaning where there is none.
    uint32_t block_size;
} hammerspace_info;

// What there is to know of a version.
typedef struct hammerspace_version_info {
    // Rises with each publication; 0 for a version of the original gem.
    uint64_t number;
    // Keys in it; UINT64_MAX where the index is damaged.
    uint64_t entries;
    // Length of log and index together, in bytes.
    uint64_t bytes;
    // When it was published, in milliseconds since 1970.
    int64_t published_ms;
    // The name of its directory. Lives as long as the list.
    const char *directory;
    // Whether it is the one that readers open.
    bool is_current;
} hammerspace_version_info;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of this library, such as "0.1.0". Never freed.
const char *hammerspace_version(void);

// Frees a value, which then is nothing. One that is nothing is fine, and so is NULL.
void hammerspace_value_free(struct hammerspace_value *value);

// Frees `count` values in a row, as hammerspace_table_get_many gives them.
void hammerspace_values_free(struct hammerspace_value *values, size_t count);

// Moves to the next pair. At the end, and after an error, the data of `key` is NULL. What it gives is valid until the
// next call, or until the cursor is freed.
struct hammerspace_error *hammerspace_cursor_next(struct hammerspace_cursor *cursor,
                                                  struct hammerspace_slice *key,
                                                  struct hammerspace_slice *value);

// Moves over the next pairs, `most` of them at most, and gives them to `entries`, which has room for so many, and their number
// to `count`: 0 at the end, and after an error. What it gives is valid until the next call, or until the cursor is freed. It
// takes about a third of the time that hammerspace_cursor_next takes for as many.
struct hammerspace_error *hammerspace_cursor_next_many(struct hammerspace_cursor *cursor,
                                                       struct hammerspace_entry *entries,
                                                       size_t most,
                                                       size_t *count);

// Frees a cursor, wherever it is. NULL is fine.
void hammerspace_cursor_free(struct hammerspace_cursor *cursor);

// What to do about it; HAMMERSPACE_KIND_NONE for NULL.
enum hammerspace_kind hammerspace_error_kind(const struct hammerspace_error *error);

// The whole error as one line: where, what, and what to do. Lives as long as the error.
const char *hammerspace_error_message(const struct hammerspace_error *error);

// What was found, without place and remedy. Lives as long as the error.
const char *hammerspace_error_finding(const struct hammerspace_error *error);

// The file it was found in, or NULL. Lives as long as the error.
const char *hammerspace_error_file(const struct hammerspace_error *error);

// The offset it was found at, in bytes from the start of the file, or UINT64_MAX where there is none.
uint64_t hammerspace_error_offset(const struct hammerspace_error *error);

// What to do about it, or NULL. Lives as long as the error.
const char *hammerspace_error_remedy(const struct hammerspace_error *error);

// Frees an error. NULL is fine.
void hammerspace_error_free(struct hammerspace_error *error);

// How many findings there are: 0 for a sound table, and for NULL.
uint64_t hammerspace_findings_count(const struct hammerspace_findings *findings);

// A finding by its place from 0 on, with file, offset and remedy. NULL where there is none, and behind the first 100, which are
// all that are kept. Lives as long as the list, and is not freed by itself.
const struct hammerspace_error *hammerspace_findings_at(const struct hammerspace_findings *findings,
                                                        size_t at);

// Frees the list. NULL is fine.
void hammerspace_findings_free(struct hammerspace_findings *findings);

// Begins a log, which takes the place of one that is there when it is finished. `compression` is a
// hammerspace_compression, `block_size` the bytes per block before compression; 0 and 0 are the defaults.
struct hammerspace_error *hammerspace_log_create(const char *file,
                                                 uint32_t compression,
                                                 uint32_t block_size,
                                                 struct hammerspace_log **log);

// Goes on with a log, packed as it is, unless somebody else does at the moment.
struct hammerspace_error *hammerspace_log_append(const char *file, struct hammerspace_log **log);

// Sets the value of a key from here on.
struct hammerspace_error *hammerspace_log_put(struct hammerspace_log *log,
                                              const void *key,
                                              size_t key_len,
                                              const void *value,
                                              size_t value_len);

// Ends the life of a key, which need not have one.
struct hammerspace_error *hammerspace_log_delete(struct hammerspace_log *log,
                                                 const void *key,
                                                 size_t key_len);

// Makes the log durable, and visible under its name. Whether it succeeds or not, all that is left to do is to free it.
struct hammerspace_error *hammerspace_log_finish(struct hammerspace_log *log);

// Frees the handle of a log; what was not finished is dropped. NULL is fine.
void hammerspace_log_free(struct hammerspace_log *log);

// Writes the index of a log, in place of one that is there. Takes time linear in the log, all processors, and 256 MiB of
// memory; what they do not hold goes to a file without a name, beside the index.
struct hammerspace_error *hammerspace_index_write(const char *log,
                                                  const char *index);

// The same with so much memory and so many threads, on which the index does not depend; or the defaults if `effort` is NULL.
struct hammerspace_error *hammerspace_index_write_within(const char *log,
                                                         const char *index,
                                                         const struct hammerspace_effort *effort);

// Which form of a translation so many things take, from 0, by the rule in a gettext catalogue's header (`Plural-Forms`);
// -1 if the rule gives none that there is. By the rule of English if the header has none that can be read.
//
// # Safety
// The header is readable for its length.
int64_t hammerspace_plural_form(const void *header,
                                size_t header_len,
                                uint64_t count);

// Divides the live entries of a log and its index among `count` new shards, 1 to 32767, in a directory that is new or empty.
// `keys` is a hammerspace_shard_keys, `compression` and `block_size` are those of hammerspace_log_create. The directory gets
// its name when all is durable.
struct hammerspace_error *hammerspace_shards_write(const char *log,
                                                   const char *index,
                                                   const char *directory,
                                                   uint32_t count,
                                                   uint32_t keys,
                                                   uint32_t compression,
                                                   uint32_t block_size);

// Opens the space in an existing directory, with these options, or the default ones if they are NULL. Nothing is written;
// a directory without a version is an empty space.
struct hammerspace_error *hammerspace_space_open(const char *directory,
                                                 const struct hammerspace_options *options,
                                                 struct hammerspace_space **space);

// The same, and makes the directory first where it is missing.
struct hammerspace_error *hammerspace_space_create(const char *directory,
                                                   const struct hammerspace_options *options,
                                                   struct hammerspace_space **space);

// Moves on to the current version, if it is another one; says whether it is (`changed` may be NULL). Meant to be called
// once per request: when nothing changed it costs nanoseconds. Snapshots taken before stay what they are.
struct hammerspace_error *hammerspace_space_refresh(const struct hammerspace_space *space,
                                                    bool *changed);

// The version that this handle reads, held for as long as the table lives, which may be longer than the space.
struct hammerspace_error *hammerspace_space_snapshot(const struct hammerspace_space *space,
                                                     struct hammerspace_table **table);

// A writer that starts from the current version, and that queues behind others of its kind for up to
// `timeout_ms` milliseconds (UINT64_MAX: for as long as it takes), then fails with HAMMERSPACE_KIND_BUSY. So
// none of them loses what another wrote. Its turn ends when it has published or is freed. Where another
// version was published meanwhile, by a writer that did not queue, hammerspace_writer_publish fails with
// HAMMERSPACE_KIND_CHANGED and publishes nothing; hammerspace_writer_restart begins again.
struct hammerspace_error *hammerspace_space_updater(const struct hammerspace_space *space,
                                                    uint64_t timeout_ms,
                                                    struct hammerspace_writer **writer);

// A writer that starts from the current version. Published, it replaces whatever is current by then.
struct hammerspace_error *hammerspace_space_update(const struct hammerspace_space *space,
                                                   struct hammerspace_writer **writer);

// A writer that starts empty, and replaces everything when it publishes.
struct hammerspace_error *hammerspace_space_replace(const struct hammerspace_space *space,
                                                    struct hammerspace_writer **writer);

// Empties the space in one step, and drops every version of it. Handles keep what they read until they refresh.
struct hammerspace_error *hammerspace_space_clear(const struct hammerspace_space *space);

// The versions on disk, newest first.
struct hammerspace_error *hammerspace_space_versions(const struct hammerspace_space *space,
                                                     struct hammerspace_versions **versions);

// Makes an older version current again: the one of this number, or, for 0, the newest before the current one. Gives its
// number (`now` may be NULL).
struct hammerspace_error *hammerspace_space_rollback(const struct hammerspace_space *space,
                                                     uint64_t number,
                                                     uint64_t *now);

// Closes a space. Its snapshots, writers and their cursors live on. NULL is fine.
void hammerspace_space_free(struct hammerspace_space *space);

// Opens a Sparkey log and its index. Takes microseconds, whatever their size.
struct hammerspace_error *hammerspace_table_open(const char *log,
                                                 const char *index,
                                                 struct hammerspace_table **table);

// The same with a hammerspace_paging, and with so many bytes of memory for decoded blocks, which the threads of this process
// share; 0 are none. Some ways of paging take their time.
struct hammerspace_error *hammerspace_table_open_with(const char *log,
                                                      const char *index,
                                                      uint32_t paging,
                                                      uint64_t cache_bytes,
                                                      struct hammerspace_table **table);

// Opens a directory of shards, as Scio or `hammerspace sparkey shard` wrote it, as one table. What the keys were hashed as
// is told by the keys.
struct hammerspace_error *hammerspace_table_open_shards(const char *directory,
                                                        struct hammerspace_table **table);

// The value of a key; its data is NULL if the key is not there, which is no error.
struct hammerspace_error *hammerspace_table_get(const struct hammerspace_table *table,
                                                const void *key,
                                                size_t key_len,
                                                struct hammerspace_value *value);

// The values of `count` keys, in their order, into an array of as many values. If it fails, all of them are nothing.
struct hammerspace_error *hammerspace_table_get_many(const struct hammerspace_table *table,
                                                     const struct hammerspace_slice *keys,
                                                     size_t count,
                                                     struct hammerspace_value *values);

// Whether a key is there.
struct hammerspace_error *hammerspace_table_contains(const struct hammerspace_table *table,
                                                     const void *key,
                                                     size_t key_len,
                                                     bool *found);

// How many keys there are; 0 for NULL.
uint64_t hammerspace_table_len(const struct hammerspace_table *table);

// What the table is made of.
struct hammerspace_error *hammerspace_table_info(const struct hammerspace_table *table,
                                                 struct hammerspace_info *info);

// Reads everything, and says all that is wrong with it. Takes time linear in the log, and 256 MiB of memory; what they do not
// hold goes to a file without a name where `TMPDIR` says, or in /tmp. That something is wrong is a finding, and no error.
struct hammerspace_error *hammerspace_table_verify(const struct hammerspace_table *table,
                                                   struct hammerspace_findings **findings);

// All bytes of the table's log, as they are mapped: the values of a table that is not compressed are slices of them. The data
// is NULL for an empty space and for shards. Lives as long as the table.
struct hammerspace_error *hammerspace_table_log(const struct hammerspace_table *table,
                                                struct hammerspace_slice *log);

// The name of the directory that a version of a space lies in: text that is not ended by a NUL. The data is NULL for an empty
// space, and for what is no version. Lives as long as the table.
struct hammerspace_error *hammerspace_table_directory(const struct hammerspace_table *table,
                                                      struct hammerspace_slice *directory);

// A cursor over all keys and values, in the order in which each key was last written; of shards, one after the other. It
// holds the table by itself.
struct hammerspace_error *hammerspace_table_cursor(const struct hammerspace_table *table,
                                                   struct hammerspace_cursor **cursor);

// Closes a table. Its cursors live on; its values do not. NULL is fine.
void hammerspace_table_free(struct hammerspace_table *table);

// How many versions there are in a list; 0 for NULL.
size_t hammerspace_versions_len(const struct hammerspace_versions *versions);

// One version of the list, by its place from 0 on.
struct hammerspace_error *hammerspace_versions_at(const struct hammerspace_versions *versions,
                                                  size_t at,
                                                  struct hammerspace_version_info *version);

// Frees a list. NULL is fine.
void hammerspace_versions_free(struct hammerspace_versions *versions);

// Sets the value of a key, whatever it was.
struct hammerspace_error *hammerspace_writer_put(struct hammerspace_writer *writer,
                                                 const void *key,
                                                 size_t key_len,
                                                 const void *value,
                                                 size_t value_len);

// Removes a key, if it is there.
struct hammerspace_error *hammerspace_writer_delete(struct hammerspace_writer *writer,
                                                    const void *key,
                                                    size_t key_len);

// The value that a key would have if this were published now; its data is NULL if there would be none. Lives until it is
// freed. From the first call on, the writer keeps its changes in memory too.
struct hammerspace_error *hammerspace_writer_get(struct hammerspace_writer *writer,
                                                 const void *key,
                                                 size_t key_len,
                                                 struct hammerspace_value *value);

// Drops what is pending, and starts from the version that is current by now. One of
// hammerspace_space_updater keeps its turn.
struct hammerspace_error *hammerspace_writer_restart(struct hammerspace_writer *writer);

// Whether a key was put or deleted since the writer began, be it without effect. False for NULL.
bool hammerspace_writer_is_changed(const struct hammerspace_writer *writer);

// Makes this the current version, in one step, and gives its number (`number` may be NULL). All that is left to do with the
// writer then is to free it. If it fails the version before is still current, unless the error says otherwise, and
// `hammerspace_writer_is_pending` tells whether it can be tried again.
struct hammerspace_error *hammerspace_writer_publish(struct hammerspace_writer *writer,
                                                     uint64_t *number);

// Whether a writer has anything left to publish: false once it has published, and for NULL. After a failure true means that
// nothing is lost, and that it can be published once the cause is gone, as after making room; only if a sync failed each later
// try fails, and says so.
bool hammerspace_writer_is_pending(const struct hammerspace_writer *writer);

// Frees a writer, and drops what it did not publish. NULL is fine.
void hammerspace_writer_free(struct hammerspace_writer *writer);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HAMMERSPACE_H */
