/* What our library promises beyond Spotify's: null pointers are answered, and readers can be shared between threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sparkey/sparkey.h>

#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);         \
      exit(1);                                                               \
    }                                                                        \
  } while (0)

/* People link to these, though no public header has them. */
uint64_t murmurhash32_hash(const uint8_t *bytes, uint64_t len, uint32_t seed);
uint64_t murmurhash64_hash(const uint8_t *bytes, uint64_t len, uint32_t seed);

static void nulls(void) {
  sparkey_logwriter *writer = NULL;
  sparkey_logreader *log = NULL;
  sparkey_logiter *iter = NULL;
  sparkey_hashreader *hash = NULL;
  uint64_t len = 0;
  uint8_t *chunk = NULL, buffer[10];
  int order = 0;
  CHECK(sparkey_logwriter_create(NULL, "null.spl", SPARKEY_COMPRESSION_NONE, 0) == SPARKEY_INTERNAL_ERROR);
  CHECK(sparkey_logwriter_create(&writer, NULL, SPARKEY_COMPRESSION_NONE, 0) == SPARKEY_FILE_NOT_FOUND);
  CHECK(sparkey_logwriter_append(&writer, NULL) == SPARKEY_FILE_NOT_FOUND);
  CHECK(sparkey_logwriter_put(NULL, 1, buffer, 1, buffer) == SPARKEY_LOG_CLOSED);
  CHECK(sparkey_logwriter_delete(NULL, 1, buffer) == SPARKEY_LOG_CLOSED);
  CHECK(sparkey_logwriter_flush(NULL) == SPARKEY_LOG_CLOSED);
  CHECK(sparkey_logwriter_close(&writer) == SPARKEY_SUCCESS && sparkey_logwriter_close(NULL) == SPARKEY_SUCCESS);
  CHECK(sparkey_logreader_open(&log, NULL) == SPARKEY_FILE_NOT_FOUND);
  CHECK(sparkey_logreader_maxkeylen(NULL) == 0 && sparkey_logreader_maxvaluelen(NULL) == 0);
  CHECK(sparkey_logreader_get_compression_type(NULL) == 0 && sparkey_logreader_get_compression_blocksize(NULL) == 0);
  CHECK(sparkey_logiter_create(&iter, NULL) == SPARKEY_LOG_CLOSED);
  CHECK(sparkey_logiter_state(NULL) == SPARKEY_ITER_INVALID && sparkey_logiter_type(NULL) == SPARKEY_ENTRY_PUT);
  CHECK(sparkey_logiter_keylen(NULL) == 0 && sparkey_logiter_valuelen(NULL) == 0);
  CHECK(sparkey_logiter_next(NULL, NULL) == SPARKEY_LOG_ITERATOR_CLOSED);
  CHECK(sparkey_hash_open(&hash, NULL, NULL) == SPARKEY_FILE_NOT_FOUND);
  CHECK(sparkey_hash_write(NULL, NULL, 0) == SPARKEY_FILE_NOT_FOUND);
  CHECK(sparkey_hash_getreader(NULL) == NULL && sparkey_hash_numentries(NULL) == 0 && sparkey_hash_numcollisions(NULL) == 0);
  CHECK(sparkey_hash_get(NULL, buffer, 1, NULL) == SPARKEY_HASH_CLOSED);
  CHECK(sparkey_logiter_hashnext(NULL, NULL) == SPARKEY_HASH_CLOSED);

  CHECK(sparkey_logwriter_create(&writer, "null.spl", SPARKEY_COMPRESSION_NONE, 0) == SPARKEY_SUCCESS);
  CHECK(sparkey_logwriter_put(writer, 0, NULL, 0, NULL) == SPARKEY_SUCCESS);
  CHECK(sparkey_logwriter_put(writer, 1, NULL, 0, NULL) == SPARKEY_INTERNAL_ERROR);
  CHECK(sparkey_logwriter_put(writer, UINT64_MAX, buffer, 0, NULL) == SPARKEY_INTERNAL_ERROR);
  CHECK(sparkey_logwriter_close(&writer) == SPARKEY_SUCCESS && writer == NULL);
  CHECK(sparkey_hash_write("null.spi", "null.spl", 0) == SPARKEY_SUCCESS);
  CHECK(sparkey_hash_open(NULL, "null.spi", "null.spl") == SPARKEY_INTERNAL_ERROR);
  CHECK(sparkey_logreader_open(NULL, "null.spl") == SPARKEY_INTERNAL_ERROR);
  CHECK(sparkey_logreader_open(&log, "null.spl") == SPARKEY_SUCCESS);
  CHECK(sparkey_logiter_create(NULL, log) == SPARKEY_INTERNAL_ERROR);
  CHECK(sparkey_logiter_create(&iter, log) == SPARKEY_SUCCESS);
  CHECK(sparkey_logiter_next(iter, NULL) == SPARKEY_LOG_CLOSED);
  CHECK(sparkey_logiter_next(iter, log) == SPARKEY_SUCCESS);
  CHECK(sparkey_logiter_keychunk(iter, NULL, 1, &chunk, &len) == SPARKEY_LOG_CLOSED);
  CHECK(sparkey_logiter_keychunk(iter, log, 1, &chunk, NULL) == SPARKEY_INTERNAL_ERROR);
  CHECK(sparkey_logiter_fill_value(iter, NULL, 1, buffer, &len) == SPARKEY_LOG_CLOSED);
  CHECK(sparkey_logiter_reset(iter, NULL) == SPARKEY_LOG_CLOSED);
  CHECK(sparkey_logiter_keycmp(iter, iter, log, &order) == SPARKEY_SUCCESS && order == 0);
  CHECK(sparkey_logiter_keycmp(iter, NULL, log, &order) == SPARKEY_LOG_ITERATOR_CLOSED);
  CHECK(sparkey_logiter_seek(iter, log, 83) == SPARKEY_INTERNAL_ERROR);
  CHECK(sparkey_logiter_seek(iter, log, UINT64_MAX) == SPARKEY_INTERNAL_ERROR);
  CHECK(sparkey_logiter_skip(iter, log, 2147483647) == SPARKEY_SUCCESS);

  /* Past the end an iterator needs no log; and readers may go first. */
  CHECK(sparkey_logiter_next(iter, NULL) == SPARKEY_SUCCESS && sparkey_logiter_state(iter) == SPARKEY_ITER_CLOSED);
  sparkey_logreader_close(&log);
  sparkey_logiter_close(&iter);
  CHECK(murmurhash32_hash((const uint8_t *)"hello", 5, 0x9747b28c) == 0x5d7f56e8);
  CHECK(murmurhash64_hash((const uint8_t *)"hello", 5, 0x9747b28c) == 0x8c23d6856f071a2e);
  CHECK(murmurhash32_hash(NULL, 0, 1) == 0x514e28b7);
}

static sparkey_hashreader *shared;

static void *reader(void *unused) {
  sparkey_logiter *iter = NULL;
  CHECK(sparkey_logiter_create(&iter, sparkey_hash_getreader(shared)) == SPARKEY_SUCCESS);
  for (int at = 0; at < 1000; at++) {
    char key[30], value[30];
    uint8_t buffer[30];
    uint64_t len;
    sprintf(key, "key %d", at * 7 % 1000);
    sprintf(value, "value %d", at * 7 % 1000);
    CHECK(sparkey_hash_get(shared, (uint8_t *)key, strlen(key), iter) == SPARKEY_SUCCESS);
    CHECK(sparkey_logiter_fill_value(iter, sparkey_hash_getreader(shared), 30, buffer, &len) == SPARKEY_SUCCESS);
    CHECK(len == strlen(value) && memcmp(buffer, value, len) == 0);
  }
  sparkey_logiter_close(&iter);
  return unused;
}

static void threads(sparkey_compression_type type) {
  sparkey_logwriter *writer = NULL;
  pthread_t threads[4];
  CHECK(sparkey_logwriter_create(&writer, "shared.spl", type, 200) == SPARKEY_SUCCESS);
  for (int at = 0; at < 1000; at++) {
    char key[30], value[30];
    sprintf(key, "key %d", at);
    sprintf(value, "value %d", at);
    CHECK(sparkey_logwriter_put(writer, strlen(key), (uint8_t *)key, strlen(value), (uint8_t *)value) == SPARKEY_SUCCESS);
  }
  CHECK(sparkey_logwriter_close(&writer) == SPARKEY_SUCCESS);
  CHECK(sparkey_hash_write("shared.spi", "shared.spl", 0) == SPARKEY_SUCCESS);
  CHECK(sparkey_hash_open(&shared, "shared.spi", "shared.spl") == SPARKEY_SUCCESS);
  for (int at = 0; at < 4; at++) {
    CHECK(pthread_create(&threads[at], NULL, reader, NULL) == 0);
  }
  for (int at = 0; at < 4; at++) {
    CHECK(pthread_join(threads[at], NULL) == 0);
  }
  sparkey_hash_close(&shared);
}

int main(void) {
  nulls();
  threads(SPARKEY_COMPRESSION_NONE);
  threads(SPARKEY_COMPRESSION_SNAPPY);
  threads(SPARKEY_COMPRESSION_ZSTD);
  printf("all is as promised\n");
  return 0;
}
