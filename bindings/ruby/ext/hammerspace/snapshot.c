// From a key to a string.
//
// By default strings are copies. Frozen ones of more than a few bytes lie in the mapped file itself. Ruby knows strings
// that are parts of another one, and keeps that one for as long as they live; here that other one, `whole`, is all of the
// log, and holds the snapshot by an instance variable. So the garbage collector knows exactly how long a version must stay
// mapped, and a program that keeps no string keeps no version.
//
// C code may read the byte behind a string's end, where Ruby's own have a NUL; what wants a NUL there asks Ruby, which then
// makes a copy. So a value is shared only where a byte follows it in the file.

#include <ruby/version.h>

#include "store.h"

// Strings up to this length need no memory of their own, and are copied.
enum { EMBEDDED = 23 };

// As many bytes behind a string's end are looked at for a NUL, in the encodings with the largest units.
enum { NULS = 4 };

// Ruby 3.1 allocates and frees each copy by itself, which takes longer than all else; so there they lie side by side and
// are parts of `slab`, as others are of the file, each with NULs behind it. Ruby gives one memory of its own when it is
// changed. One that is kept keeps its slab, so those of lookups are small. From 3.2 on Ruby has slots for such lengths.
enum { HAS_SLABS = RUBY_API_VERSION_CODE < 30200, WALK_SLAB = 4096, LOOKUP_SLAB = 1024 };

// What 3.1 calls STR_SHARED_ROOT: others are parts of this string. rb_str_new_shared sets it too, and makes an object more.
enum { SHARED_ROOT = RUBY_FL_USER5 };

// The index of the encoding that strings have anyway.
enum { BINARY = 0 };

// What snapshots hold, of all hashes of this process, and how many of them are enough to ask the collector whether somebody
// needs them all. By itself it sees a few small objects, and those that it has seen several times wait for a full collection.
// See "Frozen strings" in the design notes.
enum { MAPPED_MIN = 16 };
static _Atomic size_t mapped, mapped_max = MAPPED_MIN;

static ID id_snapshot;
static VALUE class_snapshot;

static void snapshot_mark(void *data) {
    rb_gc_mark(((snapshot *)data)->whole);
    rb_gc_mark(((snapshot *)data)->copies.slab);
}

static void unmap(snapshot *self) {
    if (!self->table) return;
    hammerspace_table_free(self->table);
    self->table = NULL;
    mapped--;
}

static void snapshot_free(void *data) {
    unmap(data);
    xfree(data);
}

static size_t snapshot_size(const void *data) {
    return sizeof(snapshot);
}

static const rb_data_type_t snapshot_type = {
    "Hammerspace::Snapshot",
    .function = {.dmark = snapshot_mark, .dfree = snapshot_free, .dsize = snapshot_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_FROZEN_SHAREABLE,
};

snapshot *snapshot_of(VALUE object) {
    return rb_check_typeddata(object, &snapshot_type);
}

// The log as one string, where its bytes may be shown.
static void share(VALUE object, snapshot *self) {
    hammerspace_slice log;
    check(hammerspace_table_log(self->table, &log));
    if (!log.data) return;
    VALUE whole = rb_enc_str_new_static(log.data, (long)log.len, rb_enc_from_index(self->reading.encoding));
    rb_ivar_set(whole, id_snapshot, object);
    self->whole = rb_obj_freeze(whole);
    // Ruby marks it as one that others are parts of.
    rb_str_new_shared(self->whole);
    self->start = log.data;
    self->end = log.data + log.len;
}

static void count_mapped(void) {
    if (++mapped <= mapped_max) return;
    rb_gc();
    mapped_max = 2 * mapped > MAPPED_MIN ? 2 * mapped : MAPPED_MIN;
}

VALUE snapshot_new(hammerspace_table *table, reading reading) {
    snapshot *self;
    VALUE object = TypedData_Make_Struct(class_snapshot, snapshot, &snapshot_type, self);
    self->table = table;
    self->reading = reading;
    self->whole = Qnil;
    self->copies = (copies){.slab = Qnil, .size = LOOKUP_SLAB};
    if (table) count_mapped();
    if (table && reading.frozen) share(object, self);
    return object;
}

void snapshot_share(VALUE object) {
    snapshot_of(object)->copies = (copies){.slab = Qnil};
}

void snapshot_close(VALUE object) {
    snapshot *self = snapshot_of(object);
    if (self->lent || !NIL_P(self->whole)) return;
    unmap(self);
}

VALUE text_of(reading reading, const char *data, size_t len) {
    VALUE text = rb_str_new(data, (long)len);
    // Unlike rb_enc_set_index, this makes room for as many NULs behind the string as its encoding has.
    if (reading.encoding != BINARY) rb_enc_associate_index(text, reading.encoding);
    if (reading.frozen) RB_OBJ_FREEZE_RAW(text);
    return text;
}

// A string over bytes that are somebody else's.
static inline VALUE text_over(const char *data, size_t len) {
#if RUBY_API_VERSION_CODE < 30200
    // rb_str_new_static also asks for the encoding, which takes as long as all else. Later rubies have this no more.
    VALUE text = rb_newobj_of(rb_cString, T_STRING | RSTRING_NOEMBED | RUBY_FL_WB_PROTECTED);
    RSTRING(text)->as.heap.ptr = (char *)data;
    RSTRING(text)->as.heap.len = (long)len;
    return text;
#else
    return rb_str_new_static(data, (long)len);
#endif
}

// As rb_str_new_shared makes one, in less time: a string over bytes that it shall not free, and the one to keep.
static inline VALUE part_of(VALUE whole, reading reading, const char *data, size_t len) {
    VALUE text = text_over(data, len);
    // As RB_OBJ_WRITE without its barrier, which is for objects that the collector has seen: this one is new.
    RSTRING(text)->as.heap.aux.shared = whole;
    RB_FL_SET_RAW(text, RUBY_ELTS_SHARED);
    if (reading.encoding < RUBY_ENCODING_INLINE_MAX) {
        RB_ENCODING_SET_INLINED(text, reading.encoding);
    } else {
        rb_enc_set_index(text, reading.encoding);
    }
    if (reading.frozen) RB_OBJ_FREEZE_RAW(text);
    return text;
}

static void new_slab(copies *self) {
    VALUE slab = rb_str_new(NULL, self->size);
    RB_FL_SET_RAW(slab, SHARED_ROOT);
    self->slab = rb_obj_freeze(slab);
    self->free = RSTRING_PTR(slab);
    self->end = self->free + self->size;
}

static inline VALUE copy_to(copies *self, reading reading, const char *data, size_t len) {
    if (!HAS_SLABS || len <= EMBEDDED || len > (size_t)self->size / 4) return text_of(reading, data, len);
    if ((size_t)(self->end - self->free) < len + NULS) new_slab(self);
    char *copy = memcpy(self->free, data, len);
    memset(copy + len, 0, NULS);
    self->free += len + NULS;
    return part_of(self->slab, reading, copy, len);
}

// Whether these bytes may be shown where they are.
static inline bool is_shown(const snapshot *self, const char *data, size_t len) {
    return len > EMBEDDED && self->start <= data && data + len + NULS <= self->end;
}

static inline VALUE text_in(const snapshot *self, copies *copies, const char *data, size_t len) {
    if (is_shown(self, data, len)) return part_of(self->whole, self->reading, data, len);
    return copy_to(copies, self->reading, data, len);
}

VALUE snapshot_get(snapshot *self, VALUE key) {
    hammerspace_value value;
    check(hammerspace_table_get(self->table, RSTRING_PTR(key), (size_t)RSTRING_LEN(key), &value));
    RB_GC_GUARD(key);
    if (!value.data) return Qundef;
    VALUE text = text_in(self, &self->copies, value.data, value.len);
    if (value.owner) hammerspace_value_free(&value);
    return text;
}

bool snapshot_has(snapshot *self, VALUE key) {
    bool found;
    check(hammerspace_table_contains(self->table, RSTRING_PTR(key), (size_t)RSTRING_LEN(key), &found));
    RB_GC_GUARD(key);
    return found;
}

// As many pairs are asked for at once.
enum { BATCH = 32 };

// A walk through a snapshot. An object, so that one is freed which is begun by a fiber and never ended.
typedef struct {
    hammerspace_cursor *cursor;
    VALUE pin;
    part part;
    // nil where pairs go to a block.
    VALUE list;
    bool splat;
    // What the cursor gave last, and how much of it has been visited.
    hammerspace_entry batch[BATCH];
    size_t count, visited;
    copies copies;
} walk;

static void walk_mark(void *data) {
    rb_gc_mark(((walk *)data)->pin);
    rb_gc_mark(((walk *)data)->list);
    rb_gc_mark(((walk *)data)->copies.slab);
}

static void walk_free(void *data) {
    hammerspace_cursor_free(((walk *)data)->cursor);
    xfree(data);
}

static const rb_data_type_t walk_type = {
    "Hammerspace walk",
    .function = {.dmark = walk_mark, .dfree = walk_free},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static void visit(const walk *self, VALUE key, VALUE value) {
    if (self->part == PAIRS && self->splat) {
        rb_yield_values(2, key, value);
        return;
    }
    VALUE item = self->part == PAIRS ? rb_assoc_new(key, value) : self->part == KEYS ? key : value;
    if (NIL_P(self->list)) {
        rb_yield(item);
    } else {
        rb_ary_push(self->list, item);
    }
}

// The next pair; NULL at the end.
static inline const hammerspace_entry *next(walk *self) {
    if (self->visited == self->count) {
        self->visited = self->count = 0;
        check(hammerspace_cursor_next_many(self->cursor, self->batch, BATCH, &self->count));
        if (self->count == 0) return NULL;
    }
    return &self->batch[self->visited++];
}

static VALUE walk_on(VALUE object) {
    walk *self = rb_check_typeddata(object, &walk_type);
    const snapshot *in = snapshot_of(self->pin);
    for (const hammerspace_entry *entry; (entry = next(self));) {
        VALUE key = self->part == VALUES ? Qnil : text_in(in, &self->copies, entry->key.data, entry->key.len);
        VALUE value = self->part == KEYS ? Qnil : text_in(in, &self->copies, entry->value.data, entry->value.len);
        visit(self, key, value);
    }
    return Qnil;
}

// Who comes back to a walk that has ended, by a continuation, gets an error from the library.
static VALUE walk_end(VALUE object) {
    walk *self = rb_check_typeddata(object, &walk_type);
    hammerspace_cursor_free(self->cursor);
    self->cursor = NULL;
    self->visited = self->count = 0;
    return Qnil;
}

static void walk_through(VALUE pin, part part, VALUE list) {
    if (!snapshot_of(pin)->table) return;
    walk *self;
    VALUE object = TypedData_Make_Struct(rb_cObject, walk, &walk_type, self);
    self->pin = pin;
    self->part = part;
    self->list = list;
    self->copies = (copies){.slab = Qnil, .size = WALK_SLAB};
    // As Ruby's Hash: a block that takes two gets two, every other one a pair.
    self->splat = NIL_P(list) && rb_proc_arity(rb_block_proc()) > 1;
    check(hammerspace_table_cursor(snapshot_of(pin)->table, &self->cursor));
    rb_ensure(walk_on, object, walk_end, object);
    RB_GC_GUARD(object);
}

void snapshot_each(VALUE object, part part) {
    walk_through(object, part, Qnil);
}

VALUE snapshot_collect(VALUE object, part part) {
    VALUE list = rb_ary_new_capa((long)hammerspace_table_len(snapshot_of(object)->table));
    walk_through(object, part, list);
    return list;
}

// What the enumerators of a hash's `each` iterate over: the version that was current when they were made. Gives the hash.
static VALUE each(VALUE self, VALUE frontend) {
    snapshot_each(self, PAIRS);
    return frontend;
}

static VALUE size(VALUE self) {
    return ULL2NUM(hammerspace_table_len(snapshot_of(self)->table));
}

void init_snapshot(VALUE hammerspace) {
    id_snapshot = rb_intern("snapshot");
    rb_gc_register_mark_object(class_snapshot = rb_define_class_under(hammerspace, "Snapshot", rb_cObject));
    rb_undef_alloc_func(class_snapshot);
    rb_define_method(class_snapshot, "each", each, 1);
    rb_define_method(class_snapshot, "size", size, 0);
    rb_funcall(hammerspace, rb_intern("private_constant"), 1, ID2SYM(rb_intern("Snapshot")));
}
