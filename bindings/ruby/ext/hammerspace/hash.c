// The methods that Hammerspace::Hash and Hammerspace::Backend::Sparkey have natively: the same ones, so that a hash asks its
// store directly.

#include "store.h"

static ID id_default, id_call, id_each, id_missing;
static VALUE class_hash;

// A Hammerspace::Hash.
typedef struct {
    VALUE backend;
    // That of the backend, if that is native.
    store *store;
    VALUE fallback, fallback_proc;
} face;

static void face_mark(void *data) {
    const face *self = data;
    // Ractor.make_shareable goes by this order. Defaults that cannot be shared refuse before the backend is frozen.
    rb_gc_mark(self->fallback);
    rb_gc_mark(self->fallback_proc);
    rb_gc_mark(self->backend);
}

static const rb_data_type_t face_type = {
    "Hammerspace::Hash",
    .function = {.dmark = face_mark, .dfree = RUBY_DEFAULT_FREE},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_FROZEN_SHAREABLE,
};

static VALUE allocate(VALUE class) {
    face *self;
    VALUE object = TypedData_Make_Struct(class, face, &face_type, self);
    self->backend = self->fallback = self->fallback_proc = Qnil;
    return object;
}

bool is_hash(VALUE object) {
    return rb_typeddata_is_kind_of(object, &face_type);
}

static face *face_of(VALUE self) {
    return rb_check_typeddata(self, &face_type);
}

static inline store *store_of(VALUE self) {
    store *found;
    if (RTYPEDDATA_TYPE(self) == &face_type) {
        found = ((face *)RTYPEDDATA_DATA(self))->store;
    } else {
        found = rb_check_typeddata(self, &store_type);
    }
    if (RB_UNLIKELY(!found || !found->path)) rb_raise(rb_eTypeError, "uninitialized Hammerspace");
    return found;
}

static inline VALUE string(VALUE given) {
    Check_Type(given, T_STRING);
    return given;
}

static VALUE default_for(VALUE frontend, VALUE key) {
    if (RBASIC_CLASS(frontend) == class_hash) {
        const face *self = RTYPEDDATA_DATA(frontend);
        if (NIL_P(self->fallback_proc)) return self->fallback;
    }
    return rb_funcall(frontend, id_default, 1, key);
}

static VALUE get(VALUE self, VALUE key) {
    store *store = store_of(self);
    snapshot *snapshot = store_read(store);
    VALUE found = snapshot ? snapshot_get(snapshot, string(key)) : (string(key), Qundef);
    return found == Qundef ? default_for(store->frontend, key) : found;
}

static VALUE has(VALUE self, VALUE key) {
    snapshot *snapshot = store_read(store_of(self));
    string(key);
    return snapshot && snapshot_has(snapshot, key) ? Qtrue : Qfalse;
}

static VALUE fetch(int argc, VALUE *argv, VALUE self) {
    rb_check_arity(argc, 1, 2);
    snapshot *snapshot = store_read(store_of(self));
    string(argv[0]);
    VALUE found = snapshot ? snapshot_get(snapshot, argv[0]) : Qundef;
    if (found != Qundef) return found;
    if (rb_block_given_p()) return rb_yield(argv[0]);
    return argc == 2 ? argv[1] : rb_funcall(self, id_missing, 1, argv[0]);
}

static void put(hammerspace_writer *writer, VALUE key, VALUE value) {
    check(hammerspace_writer_put(writer, RSTRING_PTR(key), (size_t)RSTRING_LEN(key), RSTRING_PTR(value),
                                 (size_t)RSTRING_LEN(value)));
    RB_GC_GUARD(key);
    RB_GC_GUARD(value);
}

static VALUE set(VALUE self, VALUE key, VALUE value) {
    store *store = store_of(self);
    string(key), string(value);
    put(store_write(store), key, value);
    return value;
}

static VALUE begin_update(VALUE self) {
    store_write(store_of(self));
    return Qnil;
}

static VALUE in_one_step(VALUE self) {
    rb_need_block();
    store_write_alone(store_of(self));
    return store_of(self)->frontend;
}

static VALUE in_turn(VALUE self, VALUE timeout) {
    rb_need_block();
    return store_write_in_turn(store_of(self), NUM2DBL(timeout));
}

static VALUE peek(VALUE self, VALUE key) {
    return store_peek(store_of(self), string(key));
}

static VALUE delete(VALUE self, VALUE key) {
    store *store = store_of(self);
    VALUE found = store_peek(store, string(key));
    if (NIL_P(found)) return rb_block_given_p() ? rb_yield(key) : Qnil;
    hammerspace_writer *writer = store_write(store);
    check(hammerspace_writer_delete(writer, RSTRING_PTR(key), (size_t)RSTRING_LEN(key)));
    RB_GC_GUARD(key);
    return found;
}

// A writer that is being filled, and freed should that come to nothing.
typedef struct {
    hammerspace_writer *writer;
} draft;

static void draft_free(void *data) {
    hammerspace_writer_free(((draft *)data)->writer);
    xfree(data);
}

static const rb_data_type_t draft_type = {
    "Hammerspace draft",
    .function = {.dfree = draft_free},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static VALUE put_pair(RB_BLOCK_CALL_FUNC_ARGLIST(pair, object)) {
    const draft *draft = rb_check_typeddata(object, &draft_type);
    if (argc == 1) {
        Check_Type(pair, T_ARRAY);
        put(draft->writer, string(rb_ary_entry(pair, 0)), string(rb_ary_entry(pair, 1)));
    } else {
        rb_check_arity(argc, 2, 2);
        put(draft->writer, string(argv[0]), string(argv[1]));
    }
    return Qnil;
}

static VALUE each_of(VALUE pairs) {
    return rb_block_call(rb_ary_entry(pairs, 0), id_each, 0, NULL, put_pair, rb_ary_entry(pairs, 1));
}

static VALUE give_up(VALUE object) {
    draft *draft = rb_check_typeddata(object, &draft_type);
    hammerspace_writer_free(draft->writer);
    draft->writer = NULL;
    return Qnil;
}

static VALUE fill_and_adopt(VALUE argument) {
    VALUE *given = (VALUE *)argument;
    each_of(given[1]);
    draft *draft = rb_check_typeddata(given[2], &draft_type);
    store_adopt((store *)given[0], &draft->writer);
    return Qnil;
}

// Whatever `other` does while it is asked for its pairs, what is pending here stays until all of them have come.
static VALUE replace(VALUE self, VALUE other) {
    store *store = store_of(self);
    draft *draft;
    VALUE object = TypedData_Make_Struct(rb_cObject, typeof(*draft), &draft_type, draft);
    store_replacement(store, &draft->writer);
    VALUE given[] = {(VALUE)store, rb_ary_new_from_args(2, other, object), object};
    rb_ensure(fill_and_adopt, (VALUE)given, give_up, object);
    RB_GC_GUARD(given[1]);
    return store->frontend;
}

static VALUE size(VALUE self) {
    snapshot *snapshot = store_read(store_of(self));
    return snapshot ? ULL2NUM(hammerspace_table_len(snapshot->table)) : INT2FIX(0);
}

static VALUE empty(VALUE self) {
    return size(self) == INT2FIX(0) ? Qtrue : Qfalse;
}

static VALUE each_part(VALUE self, part part) {
    store *store = store_of(self);
    if (store_read(store)) snapshot_each(store->pin, part);
    return store->frontend;
}

static VALUE enumerator_size(VALUE self, VALUE args, VALUE enumerator) {
    return size(self);
}

// The enumerator is of the version of now, however often it is used.
static VALUE each(VALUE self) {
    if (!rb_block_given_p()) {
        store *store = store_of(self);
        return rb_funcall(store_lend(store), rb_intern("to_enum"), 2, ID2SYM(id_each), store->frontend);
    }
    return each_part(self, PAIRS);
}

static VALUE each_key(VALUE self) {
    RETURN_SIZED_ENUMERATOR(self, 0, NULL, enumerator_size);
    return each_part(self, KEYS);
}

static VALUE each_value(VALUE self) {
    RETURN_SIZED_ENUMERATOR(self, 0, NULL, enumerator_size);
    return each_part(self, VALUES);
}

static VALUE collect(VALUE self, part part) {
    store *store = store_of(self);
    return store_read(store) ? snapshot_collect(store->pin, part) : rb_ary_new();
}

static VALUE keys(VALUE self) {
    return collect(self, KEYS);
}

static VALUE values(VALUE self) {
    return collect(self, VALUES);
}

static VALUE clear(VALUE self) {
    store_clear(store_of(self));
    return store_of(self)->frontend;
}

static VALUE close_all(VALUE self) {
    store_close(store_of(self));
    return Qnil;
}

static VALUE publish(VALUE self) {
    uint64_t number = store_publish(store_of(self));
    return number ? ULL2NUM(number) : Qnil;
}

static VALUE discard(VALUE self) {
    store_discard(store_of(self));
    return store_of(self)->frontend;
}

static VALUE refresh(VALUE self) {
    return store_refresh(store_of(self)) ? Qtrue : Qfalse;
}

static VALUE uid(VALUE self) {
    snapshot *snapshot = store_read(store_of(self));
    if (!snapshot) return Qnil;
    hammerspace_slice name;
    check(hammerspace_table_directory(snapshot->table, &name));
    return rb_utf8_str_new(name.data, (long)name.len);
}

static uint64_t version_number(VALUE given) {
    long long number = NUM2LL(given);
    if (number > 0) return (uint64_t)number;
    rb_raise(error_class(HAMMERSPACE_KIND_INVALID), "rollback: %lld is no number of a version; `versions` lists them", number);
}

static VALUE rollback(int argc, VALUE *argv, VALUE self) {
    rb_check_arity(argc, 0, 1);
    // 0 is the version before the current one.
    uint64_t wanted = argc == 0 || NIL_P(argv[0]) ? 0 : version_number(argv[0]);
    return ULL2NUM(store_rollback(store_of(self), wanted));
}

static VALUE versions_list(VALUE self) {
    return store_versions(store_of(self));
}

static void define_both(VALUE class) {
    rb_define_method(class, "[]", get, 1);
    rb_define_method(class, "[]=", set, 2);
    rb_define_method(class, "store", set, 2);
    rb_define_method(class, "fetch", fetch, -1);
    rb_define_method(class, "key?", has, 1);
    rb_define_method(class, "has_key?", has, 1);
    rb_define_method(class, "include?", has, 1);
    rb_define_method(class, "member?", has, 1);
    rb_define_method(class, "delete", delete, 1);
    rb_define_method(class, "replace", replace, 1);
    rb_define_method(class, "size", size, 0);
    rb_define_method(class, "length", size, 0);
    rb_define_method(class, "empty?", empty, 0);
    rb_define_method(class, "each", each, 0);
    rb_define_method(class, "each_pair", each, 0);
    rb_define_method(class, "each_key", each_key, 0);
    rb_define_method(class, "each_value", each_value, 0);
    rb_define_method(class, "keys", keys, 0);
    rb_define_method(class, "values", values, 0);
    rb_define_method(class, "clear", clear, 0);
    rb_define_method(class, "close", close_all, 0);
    rb_define_method(class, "publish", publish, 0);
    rb_define_method(class, "discard", discard, 0);
    rb_define_method(class, "refresh", refresh, 0);
    rb_define_method(class, "uid", uid, 0);
    rb_define_method(class, "rollback", rollback, -1);
    rb_define_private_method(class, "begin_update", begin_update, 0);
    rb_define_method(class, "in_one_step", in_one_step, 0);
    rb_define_private_method(class, "in_turn", in_turn, 1);
    rb_define_method(class, "peek", peek, 1);
    rb_define_private_method(class, "version_list", versions_list, 0);
}

static VALUE backend(VALUE self) {
    return face_of(self)->backend;
}

// The backend of a hash, once and for all.
static VALUE bind(VALUE self, VALUE backend) {
    face *face = face_of(self);
    face->backend = backend;
    face->store = rb_typeddata_is_kind_of(backend, &store_type) ? RTYPEDDATA_DATA(backend) : NULL;
    return self;
}

static VALUE default_value(int argc, VALUE *argv, VALUE self) {
    rb_check_arity(argc, 0, 1);
    const face *face = face_of(self);
    if (NIL_P(face->fallback_proc)) return face->fallback;
    return argc == 0 ? Qnil : rb_funcall(face->fallback_proc, id_call, 2, self, argv[0]);
}

static VALUE set_default(VALUE self, VALUE value) {
    rb_check_frozen(self);
    face_of(self)->fallback_proc = Qnil;
    return face_of(self)->fallback = value;
}

static VALUE default_proc(VALUE self) {
    return face_of(self)->fallback_proc;
}

static VALUE set_default_proc(VALUE self, VALUE value) {
    rb_check_frozen(self);
    face_of(self)->fallback = Qnil;
    return face_of(self)->fallback_proc = value;
}

static void init_hash(VALUE hammerspace) {
    class_hash = rb_define_class_under(hammerspace, "Hash", rb_cObject);
    rb_define_alloc_func(class_hash, allocate);
    define_both(class_hash);
    rb_define_method(class_hash, "backend", backend, 0);
    rb_define_method(class_hash, "default", default_value, -1);
    rb_define_method(class_hash, "default=", set_default, 1);
    rb_define_method(class_hash, "default_proc", default_proc, 0);
    rb_define_method(class_hash, "default_proc=", set_default_proc, 1);
    rb_define_private_method(class_hash, "bind", bind, 1);
}

void Init_hammerspace(void) {
    rb_ext_ractor_safe(true);
    id_default = rb_intern("default");
    id_call = rb_intern("call");
    id_each = rb_intern("each");
    id_missing = rb_intern("key_not_found");
    VALUE hammerspace = rb_define_module("Hammerspace");
    // Hammerspace::Backend::Base is Ruby's, and is there already.
    VALUE backends = rb_const_get(hammerspace, rb_intern("Backend"));
    VALUE sparkey = rb_define_class_under(backends, "Sparkey", rb_const_get(backends, rb_intern("Base")));
    init_error(hammerspace);
    init_plural(hammerspace);
    init_snapshot(hammerspace);
    init_store(sparkey);
    define_both(sparkey);
    init_hash(hammerspace);
    rb_gc_register_mark_object(class_hash);
}
