// Errors: a class for each kind, and what the library says in words.

#include "store.h"

static VALUE classes[HAMMERSPACE_KIND_INTERNAL + 1];

static const struct {
    hammerspace_kind kind;
    const char *name;
} names[] = {
    {HAMMERSPACE_KIND_CORRUPT, "CorruptError"},       {HAMMERSPACE_KIND_UNSUPPORTED, "UnsupportedError"},
    {HAMMERSPACE_KIND_BUSY, "BusyError"},             {HAMMERSPACE_KIND_FULL, "FullError"},
    {HAMMERSPACE_KIND_INVALID, "InvalidError"},       {HAMMERSPACE_KIND_PERMISSION, "PermissionError"},
    {HAMMERSPACE_KIND_MISSING, "MissingError"},       {HAMMERSPACE_KIND_OWNER_DEAD, "OwnerDeadError"},
    {HAMMERSPACE_KIND_IO, "IOError"},                 {HAMMERSPACE_KIND_CHANGED, "ChangedError"},
    {HAMMERSPACE_KIND_INTERNAL, "InternalError"},
};

static VALUE text(const char *text) {
    return text ? rb_utf8_str_new_cstr(text) : Qnil;
}

VALUE error_class(hammerspace_kind kind) {
    return classes[kind];
}

void raise_error(hammerspace_error *error) {
    uint64_t offset = hammerspace_error_offset(error);
    VALUE class = error_class(hammerspace_error_kind(error));
    VALUE exception = rb_exc_new_str(class, text(hammerspace_error_message(error)));
    rb_iv_set(exception, "@finding", text(hammerspace_error_finding(error)));
    rb_iv_set(exception, "@file", text(hammerspace_error_file(error)));
    rb_iv_set(exception, "@offset", offset == UINT64_MAX ? Qnil : ULL2NUM(offset));
    rb_iv_set(exception, "@remedy", text(hammerspace_error_remedy(error)));
    hammerspace_error_free(error);
    rb_exc_raise(exception);
}

void init_error(VALUE hammerspace) {
    VALUE base = rb_define_class_under(hammerspace, "Error", rb_eStandardError);
    const char *parts[] = {"finding", "file", "offset", "remedy"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) rb_define_attr(base, parts[i], 1, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        VALUE class = rb_define_class_under(hammerspace, names[i].name, base);
        rb_gc_register_mark_object(classes[names[i].kind] = class);
    }
}
