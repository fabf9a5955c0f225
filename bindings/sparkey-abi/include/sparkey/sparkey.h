/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * sparkey.h: logs and their indexes, for C. The declarations are those of Spotify's libsparkey, so that programs written for
 * it compile with this header, and programs compiled with the other run on this library.
 *
 *   sparkey_logwriter   writes a log (.spl)            sparkey_hash_write   makes its index (.spi)
 *   sparkey_logreader   a log, opened                  sparkey_hashreader   a log and its index, opened
 *   sparkey_logiter     a place in a log: moved by _next, _hashnext, _hash_get, _seek; then the entry is read from there
 *
 * Threads: readers may be shared, but for opening and closing. An iterator or a writer belongs to one thread at a time.
 * Errors: functions that can fail return a sparkey_returncode, 0 for success. A null pointer in place of something open is
 * answered like something closed; in place of a result, with SPARKEY_INTERNAL_ERROR.
 * Files: a file must not shrink while a reader has it open. The system then ends the process with SIGBUS.
 */
#ifndef HAMMERSPACE_SPARKEY_H
#define HAMMERSPACE_SPARKEY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------ codes */

typedef enum {
  SPARKEY_SUCCESS = 0,
  SPARKEY_INTERNAL_ERROR = -1, /* damaged entries and blocks, too; and whatever has no code of its own */

  SPARKEY_FILE_NOT_FOUND = -100,
  SPARKEY_PERMISSION_DENIED = -101,
  SPARKEY_TOO_MANY_OPEN_FILES = -102,
  SPARKEY_FILE_TOO_LARGE = -103,
  SPARKEY_FILE_ALREADY_EXISTS = -104,
  SPARKEY_FILE_BUSY = -105,
  SPARKEY_FILE_IS_DIRECTORY = -106,
  SPARKEY_FILE_SIZE_EXCEEDED = -107,
  SPARKEY_FILE_CLOSED = -108,
  SPARKEY_OUT_OF_DISK = -109,
  SPARKEY_UNEXPECTED_EOF = -110, /* a file ends within its header */
  SPARKEY_MMAP_FAILED = -111,

  SPARKEY_WRONG_LOG_MAGIC_NUMBER = -200,
  SPARKEY_WRONG_LOG_MAJOR_VERSION = -201,
  SPARKEY_UNSUPPORTED_LOG_MINOR_VERSION = -202,
  SPARKEY_LOG_TOO_SMALL = -203,
  SPARKEY_LOG_CLOSED = -204,
  SPARKEY_LOG_ITERATOR_INACTIVE = -205,
  SPARKEY_LOG_ITERATOR_MISMATCH = -206,
  SPARKEY_LOG_ITERATOR_CLOSED = -207,
  SPARKEY_LOG_HEADER_CORRUPT = -208,
  SPARKEY_INVALID_COMPRESSION_BLOCK_SIZE = -209,
  SPARKEY_INVALID_COMPRESSION_TYPE = -210,

  SPARKEY_WRONG_HASH_MAGIC_NUMBER = -300,
  SPARKEY_WRONG_HASH_MAJOR_VERSION = -301,
  SPARKEY_UNSUPPORTED_HASH_MINOR_VERSION = -302,
  SPARKEY_HASH_TOO_SMALL = -303,
  SPARKEY_HASH_CLOSED = -304,
  SPARKEY_FILE_IDENTIFIER_MISMATCH = -305,
  SPARKEY_HASH_HEADER_CORRUPT = -306,
  SPARKEY_HASH_SIZE_INVALID = -307
} sparkey_returncode;

/* The code in words: a string that is never freed, for unknown codes too. */
const char *sparkey_errstring(sparkey_returncode code);

/* ------------------------------------------------------------------------------------------------------------ types */

typedef enum {
  SPARKEY_COMPRESSION_NONE = 0,
  SPARKEY_COMPRESSION_SNAPPY = 1,
  SPARKEY_COMPRESSION_ZSTD = 2 /* readers from before July 2020 refuse it */
} sparkey_compression_type;

typedef enum { SPARKEY_ENTRY_PUT = 0, SPARKEY_ENTRY_DELETE = 1 } sparkey_entry_type;

typedef enum {
  SPARKEY_ITER_NEW = 0,    /* before an entry */
  SPARKEY_ITER_ACTIVE = 1, /* on an entry */
  SPARKEY_ITER_CLOSED = 2, /* past the last entry, where it stays */
  SPARKEY_ITER_INVALID = 3 /* on nothing: a key was not found, or a call failed */
} sparkey_iter_state;

struct sparkey_logwriter;
typedef struct sparkey_logwriter sparkey_logwriter;
struct sparkey_logreader;
typedef struct sparkey_logreader sparkey_logreader;
struct sparkey_logiter;
typedef struct sparkey_logiter sparkey_logiter;
struct sparkey_hashreader;
typedef struct sparkey_hashreader sparkey_hashreader;

/* ----------------------------------------------------------------------------------------------------- writing a log */

/* Starts an empty log; a file of that name is removed first, and its readers keep it. The block size is that before
 * compression, at least 10; without compression it means nothing. */
sparkey_returncode sparkey_logwriter_create(sparkey_logwriter **log, const char *filename,
                                            sparkey_compression_type compression_type, int compression_block_size);

/* Goes on with a log at its end. One writer at a time: nothing is locked. */
sparkey_returncode sparkey_logwriter_append(sparkey_logwriter **log, const char *filename);

/* Gives a key a value. Keys have less than 2^31 bytes. */
sparkey_returncode sparkey_logwriter_put(sparkey_logwriter *log, uint64_t keylen, const uint8_t *key, uint64_t valuelen,
                                         const uint8_t *value);

/* Takes a key away, which need not be there. */
sparkey_returncode sparkey_logwriter_delete(sparkey_logwriter *log, uint64_t keylen, const uint8_t *key);

/* Shows readers that open the log from now on all that was written. Does not sync. */
sparkey_returncode sparkey_logwriter_flush(sparkey_logwriter *log);

/* Flushes, frees the writer and sets *log to NULL. After an error the writer is still there, as after one of flush. */
sparkey_returncode sparkey_logwriter_close(sparkey_logwriter **log);

/* ----------------------------------------------------------------------------------------------------- reading a log */

/* Opens a log as it is now: what is appended later is seen by readers that are opened later. */
sparkey_returncode sparkey_logreader_open(sparkey_logreader **log, const char *filename);

/* Frees the reader and sets *log to NULL. Its iterators may be closed before or after; chunks of it are gone. */
void sparkey_logreader_close(sparkey_logreader **log);

/* The longest key and the longest value, in bytes. In logs by other writers the key of a delete may be longer. */
uint64_t sparkey_logreader_maxkeylen(sparkey_logreader *log);
uint64_t sparkey_logreader_maxvaluelen(sparkey_logreader *log);

int sparkey_logreader_get_compression_blocksize(sparkey_logreader *log);
sparkey_compression_type sparkey_logreader_get_compression_type(sparkey_logreader *log);

/* --------------------------------------------------------------------------------------------------------- iterators */

/* An iterator before the first entry. It works with any open reader of the same log. */
sparkey_returncode sparkey_logiter_create(sparkey_logiter **iter, sparkey_logreader *log);

/* Frees the iterator and sets *iter to NULL. */
void sparkey_logiter_close(sparkey_logiter **iter);

/* Moves to a block, whose offset the caller must know; without compression, to an entry. */
sparkey_returncode sparkey_logiter_seek(sparkey_logiter *iter, sparkey_logreader *log, uint64_t position);

/* As sparkey_logiter_next, count times. */
sparkey_returncode sparkey_logiter_skip(sparkey_logiter *iter, sparkey_logreader *log, int count);

/* Moves to the next entry, put or delete. The end is no error: the state tells. */
sparkey_returncode sparkey_logiter_next(sparkey_logiter *iter, sparkey_logreader *log);

/* Back to the first byte of the entry's key. */
sparkey_returncode sparkey_logiter_reset(sparkey_logiter *iter, sparkey_logreader *log);

/* The next piece of the key or of the value, at most maxlen bytes, where it lies: *res is good until the next call with the
 * iterator or the end of the reader, and must not be written. *len is 0 once nothing is left, and *res is not set then. The
 * first piece of the value skips what is left of the key. */
sparkey_returncode sparkey_logiter_keychunk(sparkey_logiter *iter, sparkey_logreader *log, uint64_t maxlen, uint8_t **res,
                                            uint64_t *len);
sparkey_returncode sparkey_logiter_valuechunk(sparkey_logiter *iter, sparkey_logreader *log, uint64_t maxlen, uint8_t **res,
                                              uint64_t *len);

/* The same, copied to a buffer of maxlen bytes, all pieces that fit. *len says how much there was. */
sparkey_returncode sparkey_logiter_fill_key(sparkey_logiter *iter, sparkey_logreader *log, uint64_t maxlen, uint8_t *buf,
                                            uint64_t *len);
sparkey_returncode sparkey_logiter_fill_value(sparkey_logiter *iter, sparkey_logreader *log, uint64_t maxlen, uint8_t *buf,
                                              uint64_t *len);

/* Compares the keys of two iterators, of which nothing should have been read, as memcmp does: *res is negative, 0 or
 * positive. Consumes them. */
sparkey_returncode sparkey_logiter_keycmp(sparkey_logiter *iter1, sparkey_logiter *iter2, sparkey_logreader *log, int *res);

sparkey_iter_state sparkey_logiter_state(sparkey_logiter *iter);
sparkey_entry_type sparkey_logiter_type(sparkey_logiter *iter);
uint64_t sparkey_logiter_keylen(sparkey_logiter *iter);
uint64_t sparkey_logiter_valuelen(sparkey_logiter *iter);

/* ------------------------------------------------------------------------------------------------------------- index */

/* Makes the index of a log, or brings an index of it up to date; one that is up to date stays as it is. hash_size is 4, 8, or
 * 0 for a choice by size. The file is replaced in one step, and readers of the old one keep it. */
sparkey_returncode sparkey_hash_write(const char *hash_filename, const char *log_filename, int hash_size);

sparkey_returncode sparkey_hash_open(sparkey_hashreader **reader, const char *hash_filename, const char *log_filename);

/* The log of a pair. It is closed with the pair, and not by itself. */
sparkey_logreader *sparkey_hash_getreader(sparkey_hashreader *reader);

/* Frees the reader and sets *reader to NULL. Its iterators may be closed before or after. */
void sparkey_hash_close(sparkey_hashreader **reader);

/* Looks up a key. Found, the iterator is active and the value is next; not found is success too, and the iterator is
 * SPARKEY_ITER_INVALID. */
sparkey_returncode sparkey_hash_get(sparkey_hashreader *reader, const uint8_t *key, uint64_t keylen, sparkey_logiter *iter);

/* Moves to the next live entry: the put that a lookup of its key would find. */
sparkey_returncode sparkey_logiter_hashnext(sparkey_logiter *iter, sparkey_hashreader *reader);

/* Live keys, and slots whose hash is that of their neighbour. */
uint64_t sparkey_hash_numentries(sparkey_hashreader *reader);
uint64_t sparkey_hash_numcollisions(sparkey_hashreader *reader);

/* ------------------------------------------------------------------------------------------------------------- names */

/* The log's name for that of an index and the other way round: .spi and .spl at the end change places. NULL for other names,
 * and for those longer than 10,000 bytes. The caller gives the string to free(). */
char *sparkey_create_log_filename(const char *index_filename);
char *sparkey_create_index_filename(const char *log_filename);

#ifdef __cplusplus
}
#endif

#endif
