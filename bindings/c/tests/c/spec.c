// The conformance cases over C's interface: `spec CASES DIRECTORY`. CASES is a file of lines: `case NAME`, of a canary
// `fails STEP`, and steps in the language of spec/README.md. Each case runs in a directory of its own in DIRECTORY, which must
// exist. Exits with 1 if a case fails, or if a canary does not fail where it should.
#include <dirent.h>
#include <fcntl.h>
#include <hammerspace.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS_MAX = 64, WORDS_MAX = 256, HANDLES_MAX = 8, LINE_LEN = 4096, CASES_MAX = 1 << 20 };

// What a word stands for; no data: nothing.
typedef struct {
    char *data;
    size_t len;
} word;

typedef struct {
    word list[WORDS_MAX];
    int count;
} words;

typedef struct {
    char name[32];
    hammerspace_space *space;
    hammerspace_writer *writer;
    hammerspace_table *held_in;
    hammerspace_value held;
    hammerspace_cursor *walk;
} handle;

typedef struct {
    char path[LINE_LEN];
    handle handles[HANDLES_MAX];
    int count;
} space;

// Where a fault of a step ends that step.
static jmp_buf step_ends;
static int in_step;

// A fault of a step, such as a verb that there is not; or of this program.
static void die(const char *finding, const char *about) {
    if (in_step) longjmp(step_ends, 1);
    fprintf(stderr, "%s: %s\n", finding, about);
    exit(255);
}

static void add(words *to, const char *data, size_t len) {
    if (to->count == WORDS_MAX) die("too many words", "");
    word *word = &to->list[to->count++];
    word->len = len;
    word->data = data ? malloc(len + 1) : NULL;
    if (!data) return;
    memcpy(word->data, data, len);
    word->data[len] = 0;
}

static void add_text(words *to, const char *text) {
    add(to, text, strlen(text));
}

static void add_number(words *to, uint64_t number) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    add_text(to, text);
}

static void add_word(words *to, const char *text) {
    if (strcmp(text, "nothing") == 0) {
        add(to, NULL, 0);
        return;
    }
    if (strcmp(text, "''") == 0) text = "";
    const char *star = strchr(text, '*');
    size_t written = star ? (size_t)(star - text) : strlen(text), len = 0, times = star ? strtoul(star + 1, NULL, 10) : 1;
    char *once = malloc(written + 1), *all;
    for (size_t at = 0; at < written; at++) {
        char digits[3] = {0};
        if (text[at] != '%') {
            once[len++] = text[at];
            continue;
        }
        memcpy(digits, text + at + 1, 2);
        once[len++] = (char)strtoul(digits, NULL, 16);
        at += 2;
    }
    all = malloc(len * times + 1);
    for (size_t at = 0; at < times; at++) memcpy(all + at * len, once, len);
    add(to, all, len * times);
    free(all);
    free(once);
}

static void add_words(words *to, char *text) {
    char *rest = NULL;
    for (char *piece = strtok_r(text, " ", &rest); piece; piece = strtok_r(NULL, " ", &rest)) add_word(to, piece);
}

static void forget(words *these) {
    for (int at = 0; at < these->count; at++) free(these->list[at].data);
    these->count = 0;
}

static int same(const words *one, const words *other) {
    if (one->count != other->count) return 0;
    for (int at = 0; at < one->count; at++) {
        const word *a = &one->list[at], *b = &other->list[at];
        if (!a->data != !b->data || a->len != b->len || (a->data && memcmp(a->data, b->data, a->len))) return 0;
    }
    return 1;
}

// An argument: the word `nothing` is one like others.
static word argument(const words *given, int at) {
    static char nothing[] = "nothing";
    if (at >= given->count) die("an argument is missing", "");
    word word = given->list[at];
    if (!word.data) word.data = nothing, word.len = strlen(nothing);
    return word;
}

// The disk.

static void on_disk(const space *on, const char *verb, const words *given, words *results) {
    char path[LINE_LEN * 2];
    snprintf(path, sizeof path, "%s/%s", on->path, given->count ? argument(given, 0).data : "");
    int failed = 0;
    if (strcmp(verb, "write") == 0) {
        word bytes = argument(given, 2);
        int file = open(path, O_WRONLY | O_CREAT, 0666);
        failed = pwrite(file, bytes.data, bytes.len, strtol(argument(given, 1).data, NULL, 10)) != (ssize_t)bytes.len;
        close(file);
    } else if (strcmp(verb, "truncate") == 0) {
        failed = truncate(path, strtol(argument(given, 1).data, NULL, 10));
    } else if (strcmp(verb, "remove") == 0) {
        failed = unlink(path);
    } else if (strcmp(verb, "link") == 0) {
        failed = symlink(argument(given, 1).data, path);
    } else if (strcmp(verb, "mkdir") == 0) {
        failed = mkdir(on->path, 0777);
    } else if (strcmp(verb, "directories") == 0) {
        uint64_t count = 0;
        DIR *directory = opendir(on->path);
        for (struct dirent *entry; directory && (entry = readdir(directory));) {
            struct stat status;
            snprintf(path, sizeof path, "%s/%s", on->path, entry->d_name);
            count += entry->d_name[0] != '.' && lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
        }
        closedir(directory);
        add_number(results, count);
    } else {
        die("the disk knows no such verb", verb);
    }
    if (failed) die("the disk refuses", path);
}

// Handles.

static handle *named(space *of, const char *name) {
    for (int at = 0; at < of->count; at++) {
        if (strcmp(of->handles[at].name, name) == 0) return &of->handles[at];
    }
    return NULL;
}

static void let_go(handle *of) {
    hammerspace_value_free(&of->held);
    hammerspace_table_free(of->held_in);
    hammerspace_cursor_free(of->walk);
    hammerspace_writer_free(of->writer);
    hammerspace_space_free(of->space);
}

static hammerspace_options options_of(const words *given) {
    hammerspace_options options = {.durability = HAMMERSPACE_DURABILITY_NONE};
    for (int at = 0; at < given->count; at++) {
        char *option = argument(given, at).data, *value = strchr(option, '=') + 1;
        if (strncmp(option, "keep=", 5) == 0) {
            options.keep = (uint32_t)strtoul(value, NULL, 10);
        } else if (strncmp(option, "block_size=", 11) == 0) {
            options.block_size = (uint32_t)strtoul(value, NULL, 10);
        } else if (strncmp(option, "compression=", 12) == 0) {
            options.compression = strcmp(value, "none") == 0     ? HAMMERSPACE_COMPRESSION_NONE
                                  : strcmp(value, "snappy") == 0 ? HAMMERSPACE_COMPRESSION_SNAPPY
                                                                 : HAMMERSPACE_COMPRESSION_ZSTD;
        } else if (strcmp(option, "mend=yes") == 0) {
            options.mend = true;
        } else {
            die("there is no such option", option);
        }
    }
    return options;
}

static hammerspace_error *open_space(space *in, const char *name, int create, const words *given) {
    hammerspace_options options = options_of(given);
    hammerspace_space *opened;
    // In C 0 is the default, and no versions at all cannot be asked for: this is refused too.
    if (given->count && strcmp(argument(given, 0).data, "keep=0") == 0) return hammerspace_space_open(NULL, NULL, &opened);
    hammerspace_error *error = create ? hammerspace_space_create(in->path, &options, &opened)
                                      : hammerspace_space_open(in->path, &options, &opened);
    if (error) return error;
    handle *place = named(in, name);
    if (place) {
        let_go(place);
    } else if (in->count == HANDLES_MAX) {
        die("too many handles", name);
    } else {
        place = &in->handles[in->count++];
    }
    *place = (handle){.space = opened};
    snprintf(place->name, sizeof place->name, "%s", name);
    return NULL;
}

// The next pairs of a cursor, so many at most.
static hammerspace_error *next(hammerspace_cursor *cursor, int most, words *results) {
    for (int at = 0; at < most; at++) {
        hammerspace_slice key, value;
        hammerspace_error *error = hammerspace_cursor_next(cursor, &key, &value);
        if (error || !key.data) return error;
        add(results, key.data, key.len);
        add(results, value.data, value.len);
    }
    return NULL;
}

static hammerspace_error *look_up(const hammerspace_table *in, const words *keys, words *results) {
    hammerspace_slice slices[WORDS_MAX];
    hammerspace_value values[WORDS_MAX];
    for (int at = 0; at < keys->count; at++) {
        word key = argument(keys, at);
        slices[at] = (hammerspace_slice){key.data, key.len};
    }
    hammerspace_error *error = hammerspace_table_get_many(in, slices, (size_t)keys->count, values);
    for (int at = 0; !error && at < keys->count; at++) add(results, values[at].data, values[at].len);
    if (!error) hammerspace_values_free(values, (size_t)keys->count);
    return error;
}

// What is asked of one version. NULL and no result: no such verb.
static hammerspace_error *read_from(handle *of, const hammerspace_table *table, const char *verb, const words *given,
                                    words *results, int *known) {
    hammerspace_error *error = NULL;
    *known = 1;
    if (strcmp(verb, "get") == 0) {
        word key = argument(given, 0);
        hammerspace_value value;
        error = hammerspace_table_get(table, key.data, key.len, &value);
        if (!error) add(results, value.data, value.len);
        hammerspace_value_free(&value);
    } else if (strcmp(verb, "get_many") == 0) {
        error = look_up(table, given, results);
    } else if (strcmp(verb, "has") == 0) {
        word key = argument(given, 0);
        bool found;
        error = hammerspace_table_contains(table, key.data, key.len, &found);
        if (!error) add_text(results, found ? "yes" : "no");
    } else if (strcmp(verb, "len") == 0) {
        add_number(results, hammerspace_table_len(table));
    } else if (strcmp(verb, "pairs") == 0) {
        hammerspace_cursor *cursor;
        error = hammerspace_table_cursor(table, &cursor);
        if (!error) error = next(cursor, WORDS_MAX, results);
        hammerspace_cursor_free(cursor);
    } else if (strcmp(verb, "walk") == 0) {
        hammerspace_cursor_free(of->walk);
        error = hammerspace_table_cursor(table, &of->walk);
        if (!error) error = next(of->walk, 1, results);
    } else if (strcmp(verb, "rest") == 0) {
        error = next(of->walk, WORDS_MAX, results);
    } else if (strcmp(verb, "held") == 0) {
        add(results, of->held.data, of->held.len);
    } else {
        *known = 0;
    }
    return error;
}

static hammerspace_error *hold(handle *of, word key, words *results) {
    hammerspace_value_free(&of->held);
    hammerspace_table_free(of->held_in);
    hammerspace_error *error = hammerspace_space_snapshot(of->space, &of->held_in);
    if (!error) error = hammerspace_table_get(of->held_in, key.data, key.len, &of->held);
    if (!error) add(results, of->held.data, of->held.len);
    return error;
}

static hammerspace_error *begin(handle *of, int replace) {
    hammerspace_writer_free(of->writer);
    return replace ? hammerspace_space_replace(of->space, &of->writer) : hammerspace_space_update(of->space, &of->writer);
}

static hammerspace_error *list(handle *of, words *results) {
    hammerspace_versions *versions;
    hammerspace_error *error = hammerspace_space_versions(of->space, &versions);
    for (size_t at = 0; !error && at < hammerspace_versions_len(versions); at++) {
        hammerspace_version_info info;
        error = hammerspace_versions_at(versions, at, &info);
        if (!error && info.number) add_number(results, info.number);
    }
    hammerspace_versions_free(versions);
    return error;
}

static hammerspace_error *write_to(handle *of, const char *verb, const words *given, words *results) {
    hammerspace_error *error = NULL;
    uint64_t number = 0;
    if (strcmp(verb, "update") == 0 || strcmp(verb, "replace") == 0) {
        error = begin(of, verb[0] == 'r');
    } else if (strcmp(verb, "turn") == 0) {
        hammerspace_writer_free(of->writer);
        error = hammerspace_space_updater(of->space, 50, &of->writer);
    } else if (strcmp(verb, "put") == 0 || strcmp(verb, "delete") == 0) {
        word key = argument(given, 0);
        if (!of->writer) error = begin(of, 0);
        if (!error && verb[0] == 'd') error = hammerspace_writer_delete(of->writer, key.data, key.len);
        else if (!error)
            error = hammerspace_writer_put(of->writer, key.data, key.len, argument(given, 1).data, argument(given, 1).len);
    } else if (strcmp(verb, "publish") == 0) {
        error = hammerspace_writer_publish(of->writer, &number);
        if (!error) add_number(results, number);
        hammerspace_writer_free(of->writer);
        of->writer = NULL;
    } else if (strcmp(verb, "discard") == 0) {
        hammerspace_writer_free(of->writer);
        of->writer = NULL;
    } else if (strcmp(verb, "clear") == 0) {
        error = hammerspace_space_clear(of->space);
    } else if (strcmp(verb, "refresh") == 0) {
        bool changed;
        error = hammerspace_space_refresh(of->space, &changed);
        if (!error) add_text(results, changed ? "yes" : "no");
    } else if (strcmp(verb, "versions") == 0) {
        error = list(of, results);
    } else if (strcmp(verb, "rollback") == 0) {
        if (given->count) number = strtoull(argument(given, 0).data, NULL, 10);
        error = hammerspace_space_rollback(of->space, number, &number);
        if (!error) add_number(results, number);
    } else if (strcmp(verb, "hold") == 0) {
        error = hold(of, argument(given, 0), results);
    } else {
        die("there is no such verb", verb);
    }
    return error;
}

static hammerspace_error *perform(space *in, const char *name, const char *verb, const words *given, words *results) {
    if (strcmp(name, "disk") == 0) {
        on_disk(in, verb, given, results);
        return NULL;
    }
    if (strcmp(verb, "open") == 0 || strcmp(verb, "create") == 0) return open_space(in, name, verb[0] == 'c', given);
    handle *of = named(in, name);
    if (!of) die("there is no such handle", name);
    hammerspace_table *table;
    hammerspace_error *error = hammerspace_space_snapshot(of->space, &table);
    int known = 0;
    if (!error) error = read_from(of, table, verb, given, results, &known);
    hammerspace_table_free(table);
    return error || known ? error : write_to(of, verb, given, results);
}

// Whether a step gives what it says.
static int gives(space *in, const char *step) {
    static const char *const kinds[] = {"",           "Corrupt", "Unsupported", "Busy", "Full",    "Invalid",
                                        "Permission", "Missing", "OwnerDead",   "Io",   "Changed", "Internal"};
    char line[LINE_LEN], *rest = NULL;
    snprintf(line, sizeof line, "%s ", step);
    char *expected = strstr(line, " -> ");
    if (expected) *expected = 0, expected += 4;
    words given = {.count = 0}, results = {.count = 0}, wanted = {.count = 0};
    const char *name = strtok_r(line, " ", &rest), *verb = strtok_r(NULL, " ", &rest);
    if (!verb) die("there is no verb", step);
    add_words(&given, rest);
    hammerspace_error *error = perform(in, name, verb, &given, &results);
    int good = !error;
    if (expected && strncmp(expected, "error ", 6) == 0) {
        const char *kind = kinds[hammerspace_error_kind(error)];
        good = error && strncmp(expected + 6, kind, strlen(kind)) == 0 && expected[6 + strlen(kind)] == ' ';
    } else if (expected) {
        add_words(&wanted, expected);
        good = !error && same(&results, &wanted);
    }
    hammerspace_error_free(error);
    forget(&given), forget(&results), forget(&wanted);
    return good;
}

static int holds(space *in, const char *step) {
    in_step = 1;
    int good = setjmp(step_ends) == 0 && gives(in, step);
    in_step = 0;
    return good;
}

// The number of the step that fails, from 1 on; 0 if none does.
static int failing(space *in, char *const *steps, int from, int to);

// The steps up to `join` in a child, which ends as any program.
static int failing_in_child(space *in, char *const *steps, int from, int to) {
    pid_t child = fork();
    if (child == 0) exit(failing(in, steps, from, to));
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : to + 1;
}

static int failing(space *in, char *const *steps, int from, int to) {
    for (int at = from; at < to; at++) {
        if (strcmp(steps[at], "fork") == 0) {
            int join = at;
            while (strcmp(steps[join], "join")) join++;
            int failed = failing_in_child(in, steps, at + 1, join);
            if (failed) return failed;
            at = join;
        } else if (!holds(in, steps[at])) {
            return at + 1;
        }
    }
    return 0;
}

typedef struct {
    char *name;
    char *steps[STEPS_MAX];
    int count, fails;
} test_case;

// Whether a case does what it should; it is forgotten.
static int passes(test_case *this, const char *directory, int number) {
    space in = {.count = 0};
    snprintf(in.path, sizeof in.path, "%s/%d", directory, number);
    int failed = failing(&in, this->steps, 0, this->count);
    if (failed != this->fails)
        fprintf(stderr, "\"%s\": fails at step %d, not %d: %s\n", this->name, failed, this->fails,
                failed ? this->steps[failed - 1] : "");
    for (int at = 0; at < in.count; at++) let_go(&in.handles[at]);
    while (this->count) free(this->steps[--this->count]);
    free(this->name);
    return failed == this->fails;
}

// The whole file, read before any child could move its place in it.
static char *contents(const char *name) {
    FILE *file = fopen(name, "r");
    if (!file) die("cannot be opened", name);
    char *text = calloc(1, CASES_MAX);
    if (fread(text, 1, CASES_MAX, file) == CASES_MAX) die("too many cases", name);
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    if (argc != 3) die("usage", "spec CASES DIRECTORY");
    char *text = contents(argv[1]), *rest = NULL;
    test_case here = {.count = 0};
    int count = 0, good = 1;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "case ", 5) == 0) {
            if (here.name) good &= passes(&here, argv[2], count++);
            here = (test_case){.name = strdup(line + 5)};
        } else if (strncmp(line, "fails ", 6) == 0) {
            here.fails = (int)strtol(line + 6, NULL, 10);
        } else if (here.count == STEPS_MAX) {
            die("too many steps", here.name);
        } else {
            here.steps[here.count++] = strdup(line);
        }
    }
    if (here.name) good &= passes(&here, argv[2], count++);
    free(text);
    if (good) printf("%d cases\n", count);
    return good ? 0 : 1;
}
