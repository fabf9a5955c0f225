/* Does through sparkey.h what lines on standard input say, and prints what comes of it. Names of files are without blanks, keys
 * and values in hex, with a dot in front so that empty ones are words too.
 *
 *   create LOG TYPE BLOCK_SIZE | append LOG | put KEY VALUE | delete KEY | flush | close | index INDEX LOG HASH_SIZE
 *   all LOG | live INDEX LOG | get INDEX LOG KEY
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sparkey/sparkey.h>

/* No entry of a damaged log is read to a greater length, and no log to more entries. */
#define LEN_MAX 100000
#define ENTRIES_MAX 100000

static char line[300000];
static uint8_t bytes[LEN_MAX];

static uint8_t digit(char letter) { return (uint8_t)(letter <= '9' ? letter - '0' : letter - 'a' + 10); }

static uint64_t unhex(const char *word, uint8_t *out) {
  uint64_t len = 0;
  if (*word == '.') {
    for (word++; *word != 0 && len < LEN_MAX; word += 2) {
      out[len++] = (uint8_t)(digit(word[0]) << 4 | digit(word[1]));
    }
  }
  return len;
}

static void hex(uint64_t len) {
  printf(" .");
  for (uint64_t at = 0; at < len; at++) {
    putchar("0123456789abcdef"[bytes[at] >> 4]);
    putchar("0123456789abcdef"[bytes[at] & 15]);
  }
}

/* Prints the entry under the iterator; whether it could be read. */
static int show(sparkey_logiter *iter, sparkey_logreader *log) {
  uint64_t len = 0;
  sparkey_returncode code = sparkey_logiter_fill_key(iter, log, LEN_MAX, bytes, &len);
  if (code == SPARKEY_SUCCESS) {
    printf("%d", sparkey_logiter_type(iter));
    hex(len);
    code = sparkey_logiter_fill_value(iter, log, LEN_MAX, bytes, &len);
    hex(len);
  }
  printf(" %d\n", code);
  return code == SPARKEY_SUCCESS;
}

static void iterate(sparkey_logreader *log, sparkey_hashreader *hash) {
  sparkey_logiter *iter = NULL;
  sparkey_returncode code = sparkey_logiter_create(&iter, log);
  int entries = 0;
  while (code == SPARKEY_SUCCESS && entries < ENTRIES_MAX) {
    code = hash == NULL ? sparkey_logiter_next(iter, log) : sparkey_logiter_hashnext(iter, hash);
    if (code != SPARKEY_SUCCESS || sparkey_logiter_state(iter) != SPARKEY_ITER_ACTIVE || !show(iter, log)) {
      break;
    }
    entries++;
  }
  printf("%d entries, %d\n", entries, code);
  sparkey_logiter_close(&iter);
}

static void get(sparkey_hashreader *hash, const char *key) {
  sparkey_logiter *iter = NULL;
  sparkey_returncode code = sparkey_logiter_create(&iter, sparkey_hash_getreader(hash));
  uint8_t wanted[LEN_MAX];
  uint64_t len = unhex(key, wanted);
  if (code == SPARKEY_SUCCESS) {
    code = sparkey_hash_get(hash, wanted, len, iter);
  }
  if (code == SPARKEY_SUCCESS && sparkey_logiter_state(iter) == SPARKEY_ITER_ACTIVE) {
    code = sparkey_logiter_fill_value(iter, sparkey_hash_getreader(hash), LEN_MAX, bytes, &len);
    hex(len);
  }
  printf(" %d\n", code);
  sparkey_logiter_close(&iter);
}

static void read_log(const char *name) {
  sparkey_logreader *log = NULL;
  sparkey_returncode code = sparkey_logreader_open(&log, name);
  printf("open %d\n", code);
  if (code == SPARKEY_SUCCESS) {
    iterate(log, NULL);
    sparkey_logreader_close(&log);
  }
}

static void read_pair(const char *index, const char *log, const char *key) {
  sparkey_hashreader *hash = NULL;
  sparkey_returncode code = sparkey_hash_open(&hash, index, log);
  if (code != SPARKEY_SUCCESS || key == NULL) {
    printf("open %d\n", code);
  }
  if (code != SPARKEY_SUCCESS) {
    return;
  }
  if (key == NULL) {
    iterate(sparkey_hash_getreader(hash), hash);
  } else {
    get(hash, key);
  }
  sparkey_hash_close(&hash);
}

int main(void) {
  sparkey_logwriter *writer = NULL;
  while (fgets(line, sizeof line, stdin) != NULL) {
    const char *words[5] = {"", "", "", "", ""};
    size_t count = 0;
    for (char *word = strtok(line, " \n"); word != NULL && count < 5; word = strtok(NULL, " \n")) {
      words[count++] = word;
    }
    const char *verb = words[0];
    if (strcmp(verb, "create") == 0) {
      sparkey_compression_type type = (sparkey_compression_type)atoi(words[2]);
      printf("create %d\n", sparkey_logwriter_create(&writer, words[1], type, atoi(words[3])));
    } else if (strcmp(verb, "append") == 0) {
      printf("append %d\n", sparkey_logwriter_append(&writer, words[1]));
    } else if (strcmp(verb, "put") == 0) {
      static uint8_t key[LEN_MAX];
      uint64_t keylen = unhex(words[1], key), valuelen = unhex(words[2], bytes);
      printf("put %d\n", sparkey_logwriter_put(writer, keylen, key, valuelen, bytes));
    } else if (strcmp(verb, "delete") == 0) {
      printf("delete %d\n", sparkey_logwriter_delete(writer, unhex(words[1], bytes), bytes));
    } else if (strcmp(verb, "flush") == 0) {
      printf("flush %d\n", sparkey_logwriter_flush(writer));
    } else if (strcmp(verb, "close") == 0) {
      printf("close %d\n", sparkey_logwriter_close(&writer));
    } else if (strcmp(verb, "index") == 0) {
      printf("index %d\n", sparkey_hash_write(words[1], words[2], atoi(words[3])));
    } else if (strcmp(verb, "all") == 0) {
      read_log(words[1]);
    } else if (strcmp(verb, "live") == 0) {
      read_pair(words[1], words[2], NULL);
    } else if (strcmp(verb, "get") == 0) {
      read_pair(words[1], words[2], words[3]);
    } else {
      printf("unknown: %s\n", verb);
      return 1;
    }
  }
  return 0;
}
