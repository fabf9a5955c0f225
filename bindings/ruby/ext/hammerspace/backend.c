// Reading, writing, neither.
//
// A store is in one of three states, and goes from one to the other as the original gem does:
//
//   neither ──read──▶ reading (snapshot) ──write──▶ writing (writer) ──read: publish──▶ reading        close: ──▶ neither
//
// What always holds:
// 1. At most one of `snapshot` and `writer` is there. A read that finds a snapshot, and a write that finds a writer, go
//    straight to it; the interpreter's lock is all they need.
// 2. Everything else is a task. It may take long, and is done without the interpreter's lock, under the store's own mutex;
//    `busy` keeps writes from going straight meanwhile. A task is not interrupted: it happened, or it did not. Who is
//    interrupted while waiting for its turn, or asks in a trap handler, where Ruby gives no mutex, has changed nothing.
// 3. What is pending belongs to the process that wrote it. A child's writes are refused until it lets go of it, as its
//    reads do.
// 4. A store that is frozen, which is what Ractors may share, stays as it is.
// 5. What cannot be published is pending still: it can be tried again, and is gone only by `discard` and its kin.
// 6. A writer that is being published or freed is nobody's: `writer` was emptied before. So whatever a fork cuts short, a
//    child finds writers that are whole, and may free them.

#include <pthread.h>
// Before all other headers of Ruby, of which some need what it includes, from 3.3 on.
#include <ruby.h>
#include <ruby/thread.h>
#include <ruby/util.h>

#include "store.h"

unsigned forks;

static void count_fork(void) {
    forks++;
}

// What a task does about pending writes that a child inherited.
typedef enum { REFUSE, LET_GO, LEAVE } inherited;

// What is to be done without the interpreter's lock, and what came of it.
typedef struct task {
    store *store;
    inherited inherited;
    hammerspace_error *(*work)(struct task *task);
    // What comes after it, with the interpreter's lock and still alone with the store; may be NULL.
    void (*settle)(struct task *task);
    bool had_turn, done;
    hammerspace_error *error;
    hammerspace_table *table;
    // Where a writer comes from, or goes to.
    hammerspace_writer **draft;
    uint64_t number;
    bool changed, refused;
    hammerspace_versions *versions;
    VALUE key, found;
} task;

static void refuse_frozen(const store *store) {
    if (store->frozen)
        rb_raise(rb_eFrozenError, "a hash that Ractors share stays at the version it was shared with; open another one");
}

NORETURN(static void refuse_inherited(const store *store));
static void refuse_inherited(const store *store) {
    rb_raise(error_class(HAMMERSPACE_KIND_INVALID),
             "%s: what is pending was written before the fork and is the parent's, which alone can publish it; "
             "let go of it by `discard`, then write it again", store->path);
}

static bool is_inherited(const store *store) {
    return store->writer && store->owner != forks;
}

static void give_up(store *store) {
    hammerspace_writer *writer = store->writer;
    store->writer = NULL;
    hammerspace_writer_free(writer);
}

static void *perform(void *argument) {
    task *task = argument;
    task->error = task->work(task);
    task->done = true;
    return NULL;
}

static VALUE perform_alone(VALUE argument) {
    task *task = (void *)argument;
    refuse_frozen(task->store);
    if (task->inherited != LEAVE && is_inherited(task->store)) {
        if (task->inherited == REFUSE) refuse_inherited(task->store);
        give_up(task->store);
    }
    task->store->busy = true;
    while (!task->done) {
        rb_nogvl(perform, task, NULL, NULL, RB_NOGVL_INTR_FAIL);
        if (!task->done) rb_thread_check_ints();
    }
    if (task->settle) task->settle(task);
    return Qnil;
}

static VALUE not_busy(VALUE argument) {
    ((task *)argument)->store->busy = false;
    return Qnil;
}

static VALUE perform_exclusively(VALUE argument) {
    ((task *)argument)->had_turn = true;
    return rb_ensure(perform_alone, argument, not_busy, argument);
}

static VALUE take_turn(VALUE argument) {
    return rb_mutex_synchronize(((task *)argument)->store->mutex, perform_exclusively, argument);
}

// A mutex of Ruby 3.1 wakes one of those who wait for it. If that one is killed just then, nobody else would ever be woken.
static VALUE pass_turn_on(VALUE argument) {
    task *task = (void *)argument;
    if (!task->had_turn && RTEST(rb_mutex_trylock(task->store->mutex))) rb_mutex_unlock(task->store->mutex);
    return Qnil;
}

// Does the work, alone with the store.
static void attempt(task *task) {
    store *store = task->store;
    refuse_frozen(store);
    if (NIL_P(store->mutex)) store->mutex = rb_mutex_new();
    rb_ensure(take_turn, (VALUE)task, pass_turn_on, (VALUE)task);
}

// The same, and raises what went wrong.
static void run(task *task) {
    attempt(task);
    check(task->error);
}

static void drop_snapshot(store *store) {
    if (store->snapshot) snapshot_close(store->pin);
    store->snapshot = NULL;
    store->pin = Qnil;
    store->behind = false;
}

static hammerspace_error *open_space(store *store) {
    if (store->space) return NULL;
    return store->create ? hammerspace_space_create(store->path, &store->options, &store->space)
                         : hammerspace_space_open(store->path, &store->options, &store->space);
}

static void close_space(store *store) {
    hammerspace_space *space = store->space;
    store->space = NULL;
    store->vacant = false;
    hammerspace_space_free(space);
}

// Publishes what is pending. Where that fails it stays so, unless it became current all the same.
static hammerspace_error *publish(task *task) {
    hammerspace_writer *writer = task->store->writer;
    if (!writer) return NULL;
    task->store->writer = NULL;
    hammerspace_error *error = hammerspace_writer_publish(writer, &task->number);
    if (hammerspace_writer_is_pending(writer)) {
        task->store->writer = writer;
    } else {
        hammerspace_writer_free(writer);
    }
    return error;
}

// The table of what is current, NULL while there is none. Opening a damaged version is an error here, though not for those
// who mean to replace it.
static hammerspace_error *look(task *task) {
    store *store = task->store;
    hammerspace_error *error = open_space(store);
    if (!error) error = hammerspace_space_refresh(store->space, &task->changed);
    if (!error) error = hammerspace_space_snapshot(store->space, &task->table);
    hammerspace_slice directory = {0};
    if (!error) error = hammerspace_table_directory(task->table, &directory);
    store->vacant = !error && !directory.data;
    if (directory.data) return error;
    hammerspace_table_free(task->table);
    task->table = NULL;
    // After an error the next one to ask looks at the directory anew.
    if (error && !store->snapshot) close_space(store);
    return error;
}

static hammerspace_error *publish_and_look(task *task) {
    hammerspace_error *error = publish(task);
    return error ? error : look(task);
}

// Unless another thread was faster.
static hammerspace_error *open_current(task *task) {
    return task->store->snapshot ? NULL : publish_and_look(task);
}

static void read_table(task *task) {
    store *store = task->store;
    if (!task->table) return;
    store->pin = snapshot_new(task->table, store->reading);
    store->snapshot = snapshot_of(store->pin);
}

// Whether the space has come to another version.
static bool has_moved(store *store) {
    bool changed;
    check(hammerspace_space_refresh(store->space, &changed));
    if (changed) store->vacant = false;
    return changed;
}

static bool is_still_vacant(store *store) {
    return store->vacant && !store->writer && !store->busy && !has_moved(store);
}

snapshot *store_open(store *store) {
    if (store->frozen || is_still_vacant(store)) return NULL;
    task task = {.store = store, .inherited = LET_GO, .work = open_current, .settle = read_table};
    run(&task);
    return store->snapshot;
}

VALUE store_lend(store *store) {
    snapshot *snapshot = store_read(store);
    if (!snapshot) return snapshot_new(NULL, store->reading);
    snapshot->lent = true;
    return store->pin;
}

static hammerspace_error *begin(task *task) {
    store *store = task->store;
    if (store->writer) return NULL;
    hammerspace_error *error = open_space(store);
    return error ? error : hammerspace_space_update(store->space, &store->writer);
}

// A writer has come: it is ours, and reading is over.
static void turn_to_writing(task *task) {
    if (task->error) return;
    task->store->owner = forks;
    drop_snapshot(task->store);
}

void store_begin(store *store) {
    task task = {.store = store, .work = begin, .settle = turn_to_writing};
    run(&task);
}

// Direct writes and peeks are for all again, what takes a turn waits.
static void let_write(task *task) {
    turn_to_writing(task);
    if (task->error) return;
    task->store->busy = false;
    rb_yield_values(0);
}

void store_write_alone(store *store) {
    task task = {.store = store, .work = begin, .settle = let_write};
    run(&task);
}

// How long a wait goes on before interrupts are seen to.
enum { BETWEEN_INTERRUPTS_MS = 100, RUNS = 100 };

static hammerspace_error *begin_in_turn(task *task) {
    hammerspace_error *error = open_space(task->store);
    return error ? error : hammerspace_space_updater(task->store->space, task->number, &task->store->writer);
}

static hammerspace_error *publish_if_changed(task *task) {
    return hammerspace_writer_is_changed(task->store->writer) ? publish(task) : NULL;
}

static hammerspace_error *restart(task *task) {
    return hammerspace_writer_restart(task->store->writer);
}

// One more step of a task, without the interpreter's lock.
static hammerspace_error *go_on(task *task, hammerspace_error *(*work)(struct task *task)) {
    task->work = work;
    task->store->busy = true;
    rb_nogvl(perform, task, NULL, NULL, 0);
    task->store->busy = false;
    return task->error;
}

static VALUE write_and_publish(VALUE argument) {
    task *task = (void *)argument;
    task->store->busy = false;
    for (int run = 1;; run++) {
        task->found = rb_yield(task->store->frontend);
        // A forked child that comes back from the block has nothing to publish.
        if (is_inherited(task->store)) refuse_inherited(task->store);
        hammerspace_error *error = go_on(task, publish_if_changed);
        if (hammerspace_error_kind(error) != HAMMERSPACE_KIND_CHANGED || run == RUNS) return Qnil;
        hammerspace_error_free(error);
        if (go_on(task, restart)) return Qnil;
    }
}

static VALUE end_turn(VALUE argument) {
    give_up(((task *)argument)->store);
    return Qnil;
}

static void write_in_turn(task *task) {
    turn_to_writing(task);
    if (!task->error) rb_ensure(write_and_publish, (VALUE)task, end_turn, (VALUE)task);
}

VALUE store_write_in_turn(store *store, double timeout) {
    for (double left = timeout * 1000;; left -= BETWEEN_INTERRUPTS_MS) {
        if (store->writer && store->owner == forks)
            rb_raise(error_class(HAMMERSPACE_KIND_INVALID), "%s: something is pending; publish or discard it first", store->path);
        task task = {.store = store, .inherited = LET_GO, .work = begin_in_turn, .settle = write_in_turn, .found = Qnil};
        task.number = left > BETWEEN_INTERRUPTS_MS ? BETWEEN_INTERRUPTS_MS : left > 0 ? (uint64_t)left : 0;
        attempt(&task);
        bool waits = hammerspace_error_kind(task.error) == HAMMERSPACE_KIND_BUSY && left > BETWEEN_INTERRUPTS_MS;
        if (!waits) {
            check(task.error);
            return task.found;
        }
        hammerspace_error_free(task.error);
        rb_thread_check_ints();
    }
}

static hammerspace_error *begin_replacement(task *task) {
    hammerspace_error *error = open_space(task->store);
    return error ? error : hammerspace_space_replace(task->store->space, task->draft);
}

void store_replacement(store *store, hammerspace_writer **draft) {
    task task = {.store = store, .work = begin_replacement, .draft = draft};
    run(&task);
}

static hammerspace_error *adopt(task *task) {
    hammerspace_writer *before = task->store->writer;
    task->store->writer = *task->draft;
    *task->draft = NULL;
    hammerspace_writer_free(before);
    return NULL;
}

void store_adopt(store *store, hammerspace_writer **draft) {
    task task = {.store = store, .inherited = LEAVE, .work = adopt, .settle = turn_to_writing, .draft = draft};
    run(&task);
}

uint64_t store_publish(store *store) {
    task task = {.store = store, .work = publish};
    run(&task);
    return task.number;
}

static hammerspace_error *publish_or_give_up(task *task) {
    task->refused = is_inherited(task->store);
    if (!task->refused) return publish(task);
    give_up(task->store);
    return NULL;
}

// With the interpreter's lock, which whoever refreshes a snapshot relies on; and with the mutex, for who has that may be
// at work on the space without the lock.
static void close_all(task *task) {
    drop_snapshot(task->store);
    close_space(task->store);
}

void store_close(store *store) {
    refuse_frozen(store);
    if (!store->writer && !store->space) return;
    task task = {.store = store, .inherited = LEAVE, .work = publish_or_give_up, .settle = close_all};
    run(&task);
    if (task.refused) refuse_inherited(store);
}

static hammerspace_error *clear(task *task) {
    give_up(task->store);
    hammerspace_error *error = open_space(task->store);
    return error ? error : hammerspace_space_clear(task->store->space);
}

static void forget_version(task *task) {
    if (!task->error) drop_snapshot(task->store);
}

void store_clear(store *store) {
    task task = {.store = store, .inherited = LET_GO, .work = clear, .settle = forget_version};
    run(&task);
}

static hammerspace_error *discard(task *task) {
    give_up(task->store);
    return NULL;
}

void store_discard(store *store) {
    task task = {.store = store, .inherited = LET_GO, .work = discard};
    run(&task);
}

// What an update would start from counts, and not what is being read.
static hammerspace_error *look_if_none_pending(task *task) {
    return task->store->writer ? NULL : look(task);
}

// Asks what is pending, or else the table. With the interpreter's lock: others may change the key, and write, without it.
static void ask(task *task) {
    store *store = task->store;
    store->behind |= task->changed;
    if (task->error || (!store->writer && !task->table)) return;
    const char *key = RSTRING_PTR(task->key);
    size_t len = (size_t)RSTRING_LEN(task->key);
    hammerspace_value value;
    task->error = store->writer ? hammerspace_writer_get(store->writer, key, len, &value)
                                : hammerspace_table_get(task->table, key, len, &value);
    if (task->error || !value.data) return;
    // With bytes of its own.
    task->found = text_of(store->reading, value.data, value.len);
    hammerspace_value_free(&value);
}

VALUE store_peek(store *store, VALUE key) {
    task task = {.store = store, .work = look_if_none_pending, .settle = ask, .key = key, .found = Qnil};
    if (store->writer && !store->busy && store->owner == forks) {
        ask(&task);
    } else {
        attempt(&task);
    }
    hammerspace_table_free(task.table);
    check(task.error);
    RB_GC_GUARD(key);
    return task.found;
}

bool store_refresh(store *store) {
    if (!store->snapshot) return store_open(store) != NULL;
    refuse_frozen(store);
    if (RB_LIKELY(!has_moved(store) && !store->behind)) return false;
    drop_snapshot(store);
    store_open(store);
    return true;
}

static hammerspace_error *roll_back(task *task) {
    uint64_t wanted = task->number;
    hammerspace_error *error = publish(task);
    if (!error) error = open_space(task->store);
    return error ? error : hammerspace_space_rollback(task->store->space, wanted, &task->number);
}

uint64_t store_rollback(store *store, uint64_t number) {
    task task = {.store = store, .work = roll_back, .number = number};
    run(&task);
    return task.number;
}

static hammerspace_error *list(task *task) {
    hammerspace_error *error = open_space(task->store);
    return error ? error : hammerspace_space_versions(task->store->space, &task->versions);
}

VALUE store_versions(store *store) {
    task task = {.store = store, .inherited = LEAVE, .work = list};
    run(&task);
    VALUE found = rb_ary_new();
    for (size_t at = 0; at < hammerspace_versions_len(task.versions); at++) {
        hammerspace_version_info info;
        check(hammerspace_versions_at(task.versions, at, &info));
        VALUE published = rb_time_timespec_new(
            &(struct timespec){info.published_ms / 1000, info.published_ms % 1000 * 1000000}, INT_MAX);
        rb_ary_push(found, rb_ary_new_from_args(6, info.number ? ULL2NUM(info.number) : Qnil,
                                                rb_utf8_str_new_cstr(info.directory),
                                                info.is_current ? Qtrue : Qfalse,
                                                info.entries == UINT64_MAX ? Qnil : ULL2NUM(info.entries),
                                                ULL2NUM(info.bytes), published));
    }
    hammerspace_versions_free(task.versions);
    return found;
}

static void store_mark(void *data) {
    const store *self = data;
    rb_gc_mark(self->frontend);
    rb_gc_mark(self->pin);
    rb_gc_mark(self->mutex);
}

// What a thread is at work on stays: in a child that is a thread of the parent's, which will never end that work here.
static void store_free(void *data) {
    store *self = data;
    if (!self->busy) {
        hammerspace_writer_free(self->writer);
        hammerspace_space_free(self->space);
    }
    xfree(self->path);
    xfree(self);
}

static size_t store_size(const void *data) {
    return sizeof(store);
}

const rb_data_type_t store_type = {
    "Hammerspace::Backend::Sparkey",
    .function = {.dmark = store_mark, .dfree = store_free, .dsize = store_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_FROZEN_SHAREABLE,
};

static VALUE allocate(VALUE class) {
    store *self;
    VALUE object = TypedData_Make_Struct(class, store, &store_type, self);
    self->frontend = self->pin = self->mutex = Qnil;
    return object;
}

// configure(frontend, path, create, encoding, frozen, durability, compression, block_size, keep)
static VALUE configure(VALUE object, VALUE frontend, VALUE path, VALUE create, VALUE encoding, VALUE frozen,
                       VALUE durability, VALUE compression, VALUE block_size, VALUE keep) {
    store *self = rb_check_typeddata(object, &store_type);
    if (self->path) rb_raise(rb_eTypeError, "already initialized");
    if (!is_hash(frontend)) rb_raise(rb_eTypeError, "a frontend is a Hammerspace::Hash, not %" PRIsVALUE, rb_inspect(frontend));
    self->frontend = frontend;
    self->create = RTEST(create);
    self->reading.encoding = rb_to_encoding_index(encoding);
    self->reading.frozen = RTEST(frozen);
    self->options.durability = NUM2UINT(durability);
    self->options.compression = NUM2UINT(compression);
    self->options.block_size = NUM2UINT(block_size);
    self->options.keep = NUM2UINT(keep);
    // Damage is for those who read to hear of, and for those who replace to mend.
    self->options.mend = true;
    self->path = ruby_strdup(StringValueCStr(path));
    return object;
}

// So that Ractors may share it: it stays at the version that is read, or would be. Ruby asks for this while all Ractors wait
// for it, some for the interpreter's lock; so that is kept, and nobody is waited for.
static VALUE freeze(VALUE object) {
    store *self = rb_check_typeddata(object, &store_type);
    if (!self->path) rb_raise(rb_eTypeError, "uninitialized Hammerspace");
    if (!self->frozen) {
        if (self->busy) rb_raise(rb_eThreadError, "%s: another thread is at work on this hash; share it after that", self->path);
        if (is_inherited(self)) give_up(self);
        task task = {.store = self, .work = open_current};
        check(open_current(&task));
        read_table(&task);
        if (self->snapshot) snapshot_share(self->pin);
        self->frozen = true;
        // Ractors can share none. Who waits for it has it still, and is refused then.
        self->mutex = Qnil;
    }
    return rb_obj_freeze(object);
}

void init_store(VALUE backend) {
    pthread_atfork(NULL, NULL, count_fork);
    rb_define_alloc_func(backend, allocate);
    rb_define_private_method(backend, "configure", configure, 9);
    rb_define_method(backend, "freeze", freeze, 0);
}
