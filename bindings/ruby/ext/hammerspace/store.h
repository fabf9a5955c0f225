// What a hash is made of, below Ruby.
//
//   Hammerspace::Hash ──▶ Hammerspace::Backend::Sparkey = store ──▶ space, writer
//                                                         │ reads
//                                                         ▼
//                                                      snapshot ──▶ table (mapped files) ◀── strings that lie in them
#ifndef STORE_H
#define STORE_H

#include <ruby.h>
#include <ruby/encoding.h>
#include <stdbool.h>

#include "hammerspace.h"

// error.c

// Raises what a function of the library gives, if it gives an error, and frees it.
static inline void check(hammerspace_error *error);
NORETURN(void raise_error(hammerspace_error *error));
// The subclass of Hammerspace::Error for a kind.
VALUE error_class(hammerspace_kind kind);
void init_error(VALUE hammerspace);

static inline void check(hammerspace_error *error) {
    if (RB_UNLIKELY(error != NULL)) raise_error(error);
}

// plural.c

void init_plural(VALUE hammerspace);

// snapshot.c

// How bytes become strings.
typedef struct {
    int encoding;
    bool frozen;
} reading;

// Memory for copies, and how much of it is taken. Who has it must be alone with it.
typedef struct {
    VALUE slab;
    // In bytes; with 0 each copy has memory of its own.
    long size;
    char *free, *end;
} copies;

// One version, held, and how its bytes become strings. A Ruby object of its own, for strings may lie in its files.
typedef struct {
    hammerspace_table *table;
    reading reading;
    // The whole mapped log as one frozen string, of which others are parts; only where strings are frozen.
    VALUE whole;
    const char *start, *end;
    copies copies;
    // Whether others than its store hold it.
    bool lent;
} snapshot;

typedef enum { PAIRS, KEYS, VALUES } part;

// Takes the table over; NULL is that of an empty space.
VALUE snapshot_new(hammerspace_table *table, reading reading);
snapshot *snapshot_of(VALUE object);
// For Ractors that read it at once.
void snapshot_share(VALUE object);
// Closes its table, unless others hold it, or there may be strings that lie in it.
void snapshot_close(VALUE object);
// The value of a key, Qundef if there is none.
VALUE snapshot_get(snapshot *snapshot, VALUE key);
bool snapshot_has(snapshot *snapshot, VALUE key);
// Yields each pair, key or value.
void snapshot_each(VALUE object, part part);
VALUE snapshot_collect(VALUE object, part part);
// A string with these bytes, which are copied.
VALUE text_of(reading reading, const char *data, size_t len);
void init_snapshot(VALUE hammerspace);

// hash.c

// Whether this is a Hammerspace::Hash.
bool is_hash(VALUE object);

// backend.c

typedef struct {
    // The Hammerspace::Hash, which methods return where Ruby's Hash returns itself, and which knows defaults.
    VALUE frontend;
    char *path;
    // Whether the directory is made where it is missing.
    bool create;
    hammerspace_options options;
    reading reading;
    hammerspace_space *space;
    // What is read, and the object that it belongs to: only where nothing is pending.
    snapshot *snapshot;
    VALUE pin;
    // What is pending, and the process that it belongs to, by the number of forks that led to it.
    hammerspace_writer *writer;
    unsigned owner;
    // Held by the thread that has given up the interpreter's lock for this store. Made when it is needed.
    VALUE mutex;
    bool busy;
    // Whether `space` has seen a version that `snapshot` is not.
    bool behind;
    // Whether `space` was last seen without a version.
    bool vacant;
    // Whether it stays as it is.
    bool frozen;
} store;

extern const rb_data_type_t store_type;

// How often this process, or one before it, has forked to become this one.
extern unsigned forks;

// Opens what is current, after publishing what is pending. NULL while there is no version, which costs no system call.
snapshot *store_open(store *store);
// Begins an update, where nothing is pending.
void store_begin(store *store);
// Yields to a block that writes, while no other thread publishes.
void store_write_alone(store *store);
// Yields a block that writes, in turn, and publishes what it wrote; again where another version was published
// meanwhile. What the block gives. Waits for its turn for so many seconds.
VALUE store_write_in_turn(store *store, double timeout);
// Publishes what is pending; its number, or 0.
uint64_t store_publish(store *store);
// Publishes what is pending, and closes everything. Who is interrupted before that has closed nothing.
void store_close(store *store);
void store_clear(store *store);
// Gives up what is pending.
void store_discard(store *store);
// A writer that starts empty, to be made the pending one by store_adopt, which takes it.
void store_replacement(store *store, hammerspace_writer **draft);
void store_adopt(store *store, hammerspace_writer **draft);
// What a key has, or would have if what is pending were published; Qnil if nothing.
VALUE store_peek(store *store, VALUE key);
// Moves on to the current version; whether it is another one.
bool store_refresh(store *store);
uint64_t store_rollback(store *store, uint64_t number);
VALUE store_versions(store *store);
// What is read, for the caller to keep.
VALUE store_lend(store *store);
void init_store(VALUE backend);

// What is read; NULL while there is no version.
static inline snapshot *store_read(store *store) {
    return RB_LIKELY(store->snapshot != NULL) ? store->snapshot : store_open(store);
}

// What is pending, begun where nothing is.
static inline hammerspace_writer *store_write(store *store) {
    if (RB_UNLIKELY(!store->writer || store->busy || store->owner != forks)) store_begin(store);
    return store->writer;
}

#endif
