// Reading, writing, neither.
//
// A store is in one of three states, and goes from one to the other as the original gem does:
//
//   neither ──read──▶ reading (snapshot) ──write──▶ writing (writer) ──read: publish──▶ reading        close: ──▶ neither
//
// What always holds:
// 1. At most one of `snapshot` and `writer` is there. A read that finds a snapshot, and a write that finds a writer, go
//    straight to it; the interpreter's lock is all they need.
// 2. Everything else may take long. It is done without the interpreter's lock, under the store's own mutex, and `busy` keeps
//    writes from going straight meanwhile. It is not interrupted: it happened, or it did not.
// 3. What is pending belongs to the process that wrote it. A child's writes are refused until it lets go of it, as its
//    reads do.
// 4. A store that is shared between Ractors stays as it is.

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

// What is to be done without the interpreter's lock, and what came of it.
typedef struct task {
    store *store;
    hammerspace_error *(*work)(struct task *task);
    bool done;
    hammerspace_error *error;
    hammerspace_table *table;
    hammerspace_writer *writer;
    uint64_t number;
    bool changed;
    hammerspace_versions *versions;
} task;

static void *perform(void *argument) {
    task *task = argument;
    task->error = task->work(task);
    task->done = true;
    return NULL;
}

static VALUE perform_alone(VALUE argument) {
    task *task = (void *)argument;
    task->store->busy = true;
    while (!task->done) {
        rb_nogvl(perform, task, NULL, NULL, RB_NOGVL_INTR_FAIL);
        if (!task->done) rb_thread_check_ints();
    }
    return Qnil;
}

static VALUE not_busy(VALUE argument) {
    ((task *)argument)->store->busy = false;
    return Qnil;
}

static VALUE perform_exclusively(VALUE argument) {
    return rb_ensure(perform_alone, argument, not_busy, argument);
}

static void drop_snapshot(store *store) {
    if (store->snapshot) snapshot_close(store->pin);
    store->snapshot = NULL;
    store->pin = Qnil;
    store->behind = false;
}

static bool is_shared(const store *store) {
    return RB_FL_TEST_RAW(store->frontend, RUBY_FL_SHAREABLE);
}

static void refuse_shared(const store *store) {
    if (is_shared(store))
        rb_raise(rb_eFrozenError, "a hash that Ractors share stays at the version it was shared with; open another one");
}

// Does the work, alone with the store, and raises what went wrong.
static void run(task *task) {
    store *store = task->store;
    refuse_shared(store);
    if (NIL_P(store->mutex)) store->mutex = rb_mutex_new();
    rb_mutex_synchronize(store->mutex, perform_exclusively, (VALUE)task);
    check(task->error);
}

// What a child inherited: freed it does no harm, unless another thread of its parent was at work on it.
static void let_go(store *store) {
    if (!store->busy) hammerspace_writer_free(store->writer);
    store->writer = NULL;
}

static void refuse_inherited(store *store) {
    if (store->writer && store->owner != forks)
        rb_raise(error_class(HAMMERSPACE_KIND_INVALID),
                 "%s: what is pending was written before the fork and is the parent's, which alone can publish it; "
                 "let go of it by `discard`, then write it again", store->path);
}

static hammerspace_error *open_space(store *store) {
    if (store->space) return NULL;
    return store->create ? hammerspace_space_create(store->path, &store->options, &store->space)
                         : hammerspace_space_open(store->path, &store->options, &store->space);
}

static void close_space(store *store) {
    hammerspace_space_free(store->space);
    store->space = NULL;
}

// Publishes what is pending, if it is ours.
static hammerspace_error *publish(task *task) {
    hammerspace_writer *writer = task->store->writer;
    if (!writer) return NULL;
    task->store->writer = NULL;
    hammerspace_error *error = hammerspace_writer_publish(writer, &task->number);
    hammerspace_writer_free(writer);
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
    if (directory.data) return error;
    hammerspace_table_free(task->table);
    task->table = NULL;
    // The next one to ask looks at the directory anew.
    if (!store->snapshot) close_space(store);
    return error;
}

static hammerspace_error *publish_and_look(task *task) {
    hammerspace_error *error = publish(task);
    return error ? error : look(task);
}

snapshot *store_open(store *store) {
    if (is_shared(store)) return NULL;
    if (store->writer && store->owner != forks) let_go(store);
    task task = {.store = store, .work = publish_and_look};
    run(&task);
    // Another thread may have been faster.
    if (store->snapshot) {
        hammerspace_table_free(task.table);
    } else if (task.table) {
        store->pin = snapshot_new(task.table, store->reading);
        store->snapshot = snapshot_of(store->pin);
    }
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
    if (!error) error = hammerspace_space_update(store->space, &store->writer);
    if (!error) store->owner = forks;
    return error;
}

void store_begin(store *store) {
    refuse_inherited(store);
    task task = {.store = store, .work = begin};
    run(&task);
    drop_snapshot(store);
}

static hammerspace_error *begin_replacement(task *task) {
    hammerspace_error *error = open_space(task->store);
    return error ? error : hammerspace_space_replace(task->store->space, &task->writer);
}

hammerspace_writer *store_replacement(store *store) {
    refuse_inherited(store);
    task task = {.store = store, .work = begin_replacement};
    run(&task);
    return task.writer;
}

static hammerspace_error *adopt(task *task) {
    hammerspace_writer_free(task->store->writer);
    task->store->writer = task->writer;
    return NULL;
}

void store_adopt(store *store, hammerspace_writer *writer) {
    task task = {.store = store, .work = adopt, .writer = writer};
    run(&task);
    store->owner = forks;
    drop_snapshot(store);
}

uint64_t store_publish(store *store) {
    refuse_inherited(store);
    task task = {.store = store, .work = publish};
    run(&task);
    return task.number;
}

// With the interpreter's lock, which whoever refreshes a snapshot relies on.
static VALUE close_all(VALUE argument) {
    store *store = (void *)argument;
    if (store->writer) let_go(store);
    drop_snapshot(store);
    close_space(store);
    return Qnil;
}

static VALUE publish_first(VALUE argument) {
    store_publish((void *)argument);
    return Qnil;
}

void store_close(store *store) {
    refuse_shared(store);
    if (store->writer || store->space) rb_ensure(publish_first, (VALUE)store, close_all, (VALUE)store);
}

static hammerspace_error *clear(task *task) {
    hammerspace_writer_free(task->store->writer);
    task->store->writer = NULL;
    hammerspace_error *error = open_space(task->store);
    return error ? error : hammerspace_space_clear(task->store->space);
}

void store_clear(store *store) {
    if (store->writer && store->owner != forks) let_go(store);
    task task = {.store = store, .work = clear};
    run(&task);
    drop_snapshot(store);
}

static hammerspace_error *discard(task *task) {
    hammerspace_writer_free(task->store->writer);
    task->store->writer = NULL;
    return NULL;
}

void store_discard(store *store) {
    if (store->writer && store->owner != forks) let_go(store);
    task task = {.store = store, .work = discard};
    run(&task);
}

// What a table has under a key, as a string with bytes of its own.
static VALUE copy_from(store *store, hammerspace_value *value) {
    if (!value->data) return Qnil;
    VALUE text = text_of(store->reading, value->data, value->len);
    hammerspace_value_free(value);
    return text;
}

VALUE store_peek(store *store, VALUE key) {
    hammerspace_value value;
    if (store->writer && !store->busy && store->owner == forks) {
        check(hammerspace_writer_get(store->writer, RSTRING_PTR(key), (size_t)RSTRING_LEN(key), &value));
        RB_GC_GUARD(key);
        return copy_from(store, &value);
    }
    // Nothing is pending: what an update would start from counts, and not what is being read.
    refuse_inherited(store);
    task task = {.store = store, .work = look};
    run(&task);
    store->behind |= task.changed;
    if (!task.table) return Qnil;
    // The key is looked at after that: meanwhile another thread may have changed it.
    hammerspace_error *error = hammerspace_table_get(task.table, RSTRING_PTR(key), (size_t)RSTRING_LEN(key), &value);
    VALUE found = error ? Qnil : copy_from(store, &value);
    hammerspace_table_free(task.table);
    check(error);
    RB_GC_GUARD(key);
    return found;
}

bool store_refresh(store *store) {
    if (!store->snapshot) return store_open(store) != NULL;
    refuse_shared(store);
    bool changed;
    check(hammerspace_space_refresh(store->space, &changed));
    if (RB_LIKELY(!changed && !store->behind)) return false;
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
    refuse_inherited(store);
    task task = {.store = store, .work = roll_back, .number = number};
    run(&task);
    return task.number;
}

static hammerspace_error *list(task *task) {
    hammerspace_error *error = open_space(task->store);
    return error ? error : hammerspace_space_versions(task->store->space, &task->versions);
}

VALUE store_versions(store *store) {
    task task = {.store = store, .work = list};
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

static void store_free(void *data) {
    store *self = data;
    hammerspace_writer_free(self->writer);
    hammerspace_space_free(self->space);
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
    self->path = ruby_strdup(StringValueCStr(path));
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
    return object;
}

// So that Ractors may share it.
static VALUE freeze(VALUE object) {
    store *self = rb_check_typeddata(object, &store_type);
    if (!is_shared(self) && store_read(self)) snapshot_share(self->pin);
    if (!self->busy) self->mutex = Qnil;
    return rb_obj_freeze(object);
}

void init_store(VALUE backend) {
    pthread_atfork(NULL, NULL, count_fork);
    rb_define_alloc_func(backend, allocate);
    rb_define_private_method(backend, "configure", configure, 9);
    rb_define_method(backend, "freeze", freeze, 0);
}
