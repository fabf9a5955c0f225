/* Calls of Berkeley DB 5.3 for one database in memory. Each returns 0, or what the library returned. */

#include <db.h>
#include <stdint.h>
#include <string.h>

static DBT thing(const void *data, uint32_t size)
{
    DBT thing;
    memset(&thing, 0, sizeof thing);
    thing.data = (void *) data;
    thing.size = thing.ulen = size;
    thing.flags = DB_DBT_USERMEM;
    return thing;
}

const int berkeley_not_found = DB_NOTFOUND, berkeley_too_small = DB_BUFFER_SMALL;

int berkeley_open(DB **db, uint32_t cache_gib, uint32_t keys)
{
    int failed = db_create(db, NULL, 0);
    if (failed)
        return failed;
    failed = (*db)->set_cachesize(*db, cache_gib, 0, 1);
    if (!failed)
        failed = (*db)->set_h_nelem(*db, keys);
    if (!failed)
        failed = (*db)->open(*db, NULL, NULL, NULL, DB_HASH, DB_CREATE, 0);
    if (failed)
        (*db)->close(*db, DB_NOSYNC);
    return failed;
}

void berkeley_close(DB *db)
{
    db->close(db, DB_NOSYNC);
}

int berkeley_put(DB *db, uint64_t key, const void *value, uint32_t len)
{
    DBT k = thing(&key, sizeof key), v = thing(value, len);
    return db->put(db, NULL, &k, &v, 0);
}

/* len: room in, length out; also if there is too little room. */
int berkeley_get(DB *db, uint64_t key, void *value, uint32_t *len)
{
    DBT k = thing(&key, sizeof key), v = thing(value, *len);
    int failed = db->get(db, NULL, &k, &v, 0);
    *len = v.size;
    return failed;
}

/* A hash has no append: the value's length is asked for, then bytes are put behind it. */
int berkeley_append(DB *db, uint64_t key, const void *bytes, uint32_t len)
{
    DBT k = thing(&key, sizeof key), v = thing(bytes, len);
    uint32_t end = 0;
    int failed = berkeley_get(db, key, NULL, &end);
    if (failed == DB_NOTFOUND)
        return berkeley_put(db, key, bytes, len);
    if (failed && failed != DB_BUFFER_SMALL)
        return failed;
    v.flags |= DB_DBT_PARTIAL;
    v.doff = end;
    return db->put(db, NULL, &k, &v, 0);
}

int berkeley_delete(DB *db, uint64_t key)
{
    DBT k = thing(&key, sizeof key);
    return db->del(db, NULL, &k, 0);
}

const char *berkeley_message(int failed)
{
    return db_strerror(failed);
}
