// Plurals: which form of a translation a count takes.

#include "store.h"

// Hammerspace.plural_form(header, count): the number of the form; nil if the rule gives none that there is.
static VALUE plural_form(VALUE self, VALUE header, VALUE count) {
    StringValue(header);
    int64_t form = hammerspace_plural_form(RSTRING_PTR(header), (size_t)RSTRING_LEN(header), NUM2ULL(count));
    RB_GC_GUARD(header);
    return form < 0 ? Qnil : LL2NUM(form);
}

void init_plural(VALUE hammerspace) {
    rb_define_singleton_method(hammerspace, "plural_form", plural_form, 2);
}
