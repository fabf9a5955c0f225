/* Calls every function of sparkey.h, right and wrong, and prints what each answers. Built with our header and with Spotify's,
 * run on our library and on theirs, it must print the same; so it asks nothing that theirs leaves to chance or crashes on.
 *
 *   everything none|snappy|zstd      in an empty directory
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sparkey/sparkey.h>

#define LOG "it.spl"
#define INDEX "it.spi"

static int said(const char *what, sparkey_returncode code) {
  if (sparkey_errstring(code) == NULL || strlen(sparkey_errstring(code)) == 0) {
    printf("no words for %d\n", code);
  }
  printf("%s: %d\n", what, code);
  return code;
}

static const uint8_t *bytes(const char *text) { return (const uint8_t *)text; }

static void put(sparkey_logwriter *log, const char *key, const char *value) {
  said("put", sparkey_logwriter_put(log, strlen(key), bytes(key), strlen(value), bytes(value)));
}

/* A value that spans many blocks. */
static void put_long(sparkey_logwriter *log, const char *key, uint64_t len) {
  uint8_t *value = malloc(len);
  for (uint64_t at = 0; at < len; at++) {
    value[at] = (uint8_t)('a' + at * at / 7 % 26);
  }
  said("put long", sparkey_logwriter_put(log, strlen(key), bytes(key), len, value));
  free(value);
}

static void del(sparkey_logwriter *log, const char *key) {
  said("delete", sparkey_logwriter_delete(log, strlen(key), bytes(key)));
}

static void hex(const uint8_t *from, uint64_t len) {
  uint32_t sum = 0;
  for (uint64_t at = 0; at < len; at++) {
    sum = sum * 31 + from[at];
  }
  printf(" %.*s (%" PRIu64 ", %08x)", (int)(len < 20 ? len : 20), (const char *)from, len, sum);
}

static void names(void) {
  const char *given[] = {"a.spi", "a.spl", ".spi", ".spl", "spi", "", "a.spx", "dir.spi/a", "a.spi.spl"};
  for (size_t at = 0; at < sizeof given / sizeof *given; at++) {
    char *log = sparkey_create_log_filename(given[at]), *index = sparkey_create_index_filename(given[at]);
    printf("%s: %s %s\n", given[at], log ? log : "-", index ? index : "-");
    free(log);
    free(index);
  }
  char *long_name = malloc(20001);
  memset(long_name, 'a', 20000);
  strcpy(long_name + 19996, ".spi");
  printf("long: %d\n", sparkey_create_log_filename(long_name) == NULL);
  strcpy(long_name + 9996, ".spi");
  char *log = sparkey_create_log_filename(long_name);
  printf("less long: %s\n", log ? log + 9990 : "-");
  free(log);
  free(long_name);
  printf("null: %d %d\n", sparkey_create_log_filename(NULL) == NULL, sparkey_create_index_filename(NULL) == NULL);
}

static void write_log(sparkey_compression_type type, int block_size) {
  sparkey_logwriter *log = NULL;
  said("create, unknown compression", sparkey_logwriter_create(&log, LOG, (sparkey_compression_type)7, block_size));
  if (type != SPARKEY_COMPRESSION_NONE) {
    said("create, tiny blocks", sparkey_logwriter_create(&log, LOG, type, 9));
    said("create, negative blocks", sparkey_logwriter_create(&log, LOG, type, -1));
  }
  said("append to nothing", sparkey_logwriter_append(&log, "nothing.spl"));
  said("create", sparkey_logwriter_create(&log, LOG, type, block_size));
  put(log, "the longest key there is in this log", "1");
  put(log, "apple", "red");
  put(log, "", "the empty key");
  put(log, "nothing", "");
  put_long(log, "long", 5000);
  put(log, "apple", "green");
  del(log, "nothing");
  del(log, "never there");
  said("flush", sparkey_logwriter_flush(log));
  put(log, "flushed", "no");
  said("flush", sparkey_logwriter_flush(log));
  said("flush again", sparkey_logwriter_flush(log));
  said("close", sparkey_logwriter_close(&log));
  printf("closed: %d\n", log == NULL);
  said("append", sparkey_logwriter_append(&log, LOG));
  put(log, "pear", "yellow");
  for (int at = 0; at < 200; at++) {
    char key[30], value[30];
    sprintf(key, "key %d", at * 7 % 150);
    sprintf(value, "value %d", at);
    put(log, key, value);
  }
  put_long(log, "longer", 30000);
  del(log, "key 3");
  said("close", sparkey_logwriter_close(&log));
}

static void show(sparkey_logiter *iter, sparkey_logreader *log) {
  uint64_t keylen = sparkey_logiter_keylen(iter), valuelen = sparkey_logiter_valuelen(iter), len;
  uint8_t *key = malloc(keylen + 1), *value = malloc(valuelen + 1);
  printf("%s", sparkey_logiter_type(iter) == SPARKEY_ENTRY_PUT ? "put" : "delete");
  sparkey_returncode code = sparkey_logiter_fill_key(iter, log, keylen + 1, key, &len);
  printf(" %d", code);
  hex(key, len);
  code = sparkey_logiter_fill_value(iter, log, valuelen + 1, value, &len);
  printf(" %d", code);
  hex(value, len);
  printf("\n");
  free(key);
  free(value);
}

/* The entry in pieces: their lengths are part of what is compared. */
static void show_pieces(sparkey_logiter *iter, sparkey_logreader *log, uint64_t most) {
  uint8_t *piece = NULL;
  uint64_t len = 1;
  uint32_t sum = 0;
  printf("pieces");
  for (int part = 0; part < 2; part++) {
    for (len = 1; len > 0;) {
      sparkey_returncode code = part == 0 ? sparkey_logiter_keychunk(iter, log, most, &piece, &len)
                                          : sparkey_logiter_valuechunk(iter, log, most, &piece, &len);
      printf(" %d/%" PRIu64, code, len);
      for (uint64_t at = 0; at < len; at++) {
        sum = sum * 31 + piece[at];
      }
    }
    printf(" %08x;", sum);
  }
  printf("\n");
}

static void iterate(void) {
  sparkey_logreader *log = NULL;
  sparkey_logiter *iter = NULL, *other = NULL;
  uint8_t *piece = NULL, buffer[100];
  uint64_t len = 77;
  int order = 77;
  said("open nothing", sparkey_logreader_open(&log, "nothing.spl"));
  said("open", sparkey_logreader_open(&log, LOG));
  printf("longest %" PRIu64 " %" PRIu64 ", blocks %d of %d\n", sparkey_logreader_maxkeylen(log),
         sparkey_logreader_maxvaluelen(log), sparkey_logreader_get_compression_type(log),
         sparkey_logreader_get_compression_blocksize(log));
  said("iter", sparkey_logiter_create(&iter, log));
  said("other", sparkey_logiter_create(&other, log));
  printf("new: %d\n", sparkey_logiter_state(iter));
  said("key of nothing", sparkey_logiter_keychunk(iter, log, 5, &piece, &len));
  said("fill nothing of nothing", sparkey_logiter_fill_key(iter, log, 0, buffer, &len));
  printf("len %" PRIu64 "\n", len);
  said("reset on nothing", sparkey_logiter_reset(iter, log));
  said("skip none", sparkey_logiter_skip(iter, log, 0));
  said("skip fewer", sparkey_logiter_skip(iter, log, -5));
  for (int at = 0;; at++) {
    sparkey_returncode code = sparkey_logiter_next(iter, log);
    if (code != SPARKEY_SUCCESS || sparkey_logiter_state(iter) != SPARKEY_ITER_ACTIVE) {
      printf("end after %d: %d, state %d\n", at, code, sparkey_logiter_state(iter));
      break;
    }
    if (at % 3 == 0) {
      show_pieces(iter, log, at % 2 == 0 ? 1u << 30 : 9);
      said("reset", sparkey_logiter_reset(iter, log));
      said("value first", sparkey_logiter_valuechunk(iter, log, 2, &piece, &len));
      said("reset", sparkey_logiter_reset(iter, log));
    }
    if (at % 3 < 2) {
      show(iter, log);
    }
  }
  said("next past the end", sparkey_logiter_next(iter, log));
  said("skip past the end", sparkey_logiter_skip(iter, log, 10));
  printf("state %d, lengths %" PRIu64 " %" PRIu64 "\n", sparkey_logiter_state(iter), sparkey_logiter_keylen(iter),
         sparkey_logiter_valuelen(iter));
  said("value past the end", sparkey_logiter_valuechunk(iter, log, 5, &piece, &len));
  said("seek to the first block", sparkey_logiter_seek(iter, log, 84));
  printf("state %d\n", sparkey_logiter_state(iter));
  said("skip", sparkey_logiter_skip(iter, log, 5));
  show(iter, log);

  for (int at = 0; at < 12; at++) {
    said("seek", sparkey_logiter_seek(iter, log, 84));
    said("seek", sparkey_logiter_seek(other, log, 84));
    said("skip", sparkey_logiter_skip(iter, log, 2 + at % 5));
    said("skip", sparkey_logiter_skip(other, log, 1 + at));
    said("compare", sparkey_logiter_keycmp(iter, other, log, &order));
    printf("order %d\n", (order > 0) - (order < 0));
    said("value after", sparkey_logiter_fill_value(iter, log, 5, buffer, &len));
    hex(buffer, len);
    printf("\n");
  }
  sparkey_logiter_close(&other);
  sparkey_logiter_close(&other);
  sparkey_logreader_close(&log);
  sparkey_logreader_close(&log);
  sparkey_logreader_close(NULL);
  sparkey_logiter_close(NULL);
  sparkey_logiter_close(&iter);
  printf("closed: %d %d %d\n", log == NULL, iter == NULL, other == NULL);
}

static void look_up(sparkey_hashreader *hash, sparkey_logiter *iter, const char *key) {
  sparkey_logreader *log = sparkey_hash_getreader(hash);
  printf("%s ", key);
  said("get", sparkey_hash_get(hash, bytes(key), strlen(key), iter));
  printf("state %d\n", sparkey_logiter_state(iter));
  if (sparkey_logiter_state(iter) == SPARKEY_ITER_ACTIVE) {
    uint8_t *piece = NULL;
    uint64_t len = 77;
    said("key is read", sparkey_logiter_keychunk(iter, log, 100, &piece, &len));
    printf("len %" PRIu64 "\n", len);
    said("reset", sparkey_logiter_reset(iter, log));
    show(iter, log);
    said("live next", sparkey_logiter_hashnext(iter, hash));
    if (sparkey_logiter_state(iter) == SPARKEY_ITER_ACTIVE) {
      show(iter, log);
    }
    said("any next", sparkey_logiter_next(iter, log));
    printf("state %d\n", sparkey_logiter_state(iter));
  }
}

static void index_log(int hash_size) {
  sparkey_hashreader *hash = NULL;
  sparkey_logiter *iter = NULL;
  remove(INDEX);
  said("index nothing", sparkey_hash_write(INDEX, "nothing.spl", hash_size));
  said("odd hashes", sparkey_hash_write(INDEX, LOG, 5));
  said("index", sparkey_hash_write(INDEX, LOG, hash_size));
  said("index again", sparkey_hash_write(INDEX, LOG, hash_size));
  said("open without index", sparkey_hash_open(&hash, "nothing.spi", LOG));
  said("open without log", sparkey_hash_open(&hash, INDEX, "nothing.spl"));
  said("open the wrong way round", sparkey_hash_open(&hash, LOG, INDEX));
  said("open", sparkey_hash_open(&hash, INDEX, LOG));
  printf("%" PRIu64 " entries, collisions known: %d\n", sparkey_hash_numentries(hash),
         sparkey_hash_numcollisions(hash) <= sparkey_hash_numentries(hash));
  said("iter", sparkey_logiter_create(&iter, sparkey_hash_getreader(hash)));
  said("miss", sparkey_hash_get(hash, bytes("absent"), 6, iter));
  printf("state %d\n", sparkey_logiter_state(iter));
  for (int at = 0;; at++) {
    sparkey_returncode code = sparkey_logiter_hashnext(iter, hash);
    if (code != SPARKEY_SUCCESS || sparkey_logiter_state(iter) != SPARKEY_ITER_ACTIVE) {
      printf("end after %d: %d, state %d\n", at, code, sparkey_logiter_state(iter));
      break;
    }
    show(iter, sparkey_hash_getreader(hash));
  }
  const char *keys[] = {"apple", "", "nothing", "never there", "long", "longer", "key 3", "key 4", "key 149", "pear", "x"};
  for (size_t at = 0; at < sizeof keys / sizeof *keys; at++) {
    look_up(hash, iter, keys[at]);
  }
  sparkey_hash_close(&hash);
  sparkey_hash_close(&hash);
  sparkey_hash_close(NULL);
  sparkey_logiter_close(&iter);
  printf("closed: %d %d\n", hash == NULL, iter == NULL);
}

/* An iterator of another log is refused, and one log's index for another. */
static void mix_up(void) {
  sparkey_logwriter *writer = NULL;
  sparkey_logreader *log = NULL, *second = NULL;
  sparkey_hashreader *hash = NULL;
  sparkey_logiter *iter = NULL;
  said("create", sparkey_logwriter_create(&writer, "second.spl", SPARKEY_COMPRESSION_NONE, 0));
  del(writer, "only a delete");
  said("close", sparkey_logwriter_close(&writer));
  said("open", sparkey_logreader_open(&log, LOG));
  said("open", sparkey_logreader_open(&second, "second.spl"));
  said("iter", sparkey_logiter_create(&iter, log));
  said("next of another", sparkey_logiter_next(iter, second));
  said("seek of another", sparkey_logiter_seek(iter, second, 84));
  said("open a mixed pair", sparkey_hash_open(&hash, INDEX, "second.spl"));
  sparkey_logiter_close(&iter);
  said("iter", sparkey_logiter_create(&iter, second));
  said("next", sparkey_logiter_next(iter, second));
  show(iter, second);
  said("next", sparkey_logiter_next(iter, second));
  printf("state %d\n", sparkey_logiter_state(iter));
  sparkey_logreader_close(&log);
  sparkey_logreader_close(&second);
  sparkey_logiter_close(&iter);
  said("index", sparkey_hash_write("second.spi", "second.spl", 0));
  said("open", sparkey_hash_open(&hash, "second.spi", "second.spl"));
  printf("%" PRIu64 " entries\n", sparkey_hash_numentries(hash));
  sparkey_hash_close(&hash);
}

int main(int argc, char **argv) {
  const char *packed = argc > 1 ? argv[1] : "none";
  sparkey_compression_type type = strcmp(packed, "none") == 0     ? SPARKEY_COMPRESSION_NONE
                                  : strcmp(packed, "snappy") == 0 ? SPARKEY_COMPRESSION_SNAPPY
                                                                  : (sparkey_compression_type)2;
  printf("widths %zu %zu %zu %zu\n", sizeof(sparkey_returncode), sizeof(sparkey_compression_type),
         sizeof(sparkey_entry_type), sizeof(sparkey_iter_state));
  names();
  write_log(type, 100);
  iterate();
  index_log(0);
  index_log(4);
  index_log(8);
  mix_up();
  return 0;
}
