'use strict'
// What a space and a snapshot have in common: a Map that cannot be changed.

class Reader {
  /** @protected */ _native
  /** @protected */ _keys
  /** @protected */ _values

  constructor(native, keys, values) {
    this._native = native
    this._keys = keys
    this._values = values
  }

  get(key) {
    const found = this._native.get(this._keys.encode(key), this._values.isRaw)
    return found === undefined ? undefined : this._values.decode(found)
  }

  has(key) {
    return this._native.has(this._keys.encode(key))
  }

  getMany(keys) {
    const { encode } = this._keys
    const { isRaw, decode } = this._values
    const found = this._native.getMany(Array.from(keys, (key) => encode(key)), isRaw)
    return found.map((value) => (value === undefined ? undefined : decode(value)))
  }

  get size() {
    return this._native.size()
  }

  get version() {
    return this._native.version()
  }

  *entries() {
    const { decode: toKey, isRaw: rawKeys } = this._keys
    const { decode: toValue, isRaw: rawValues } = this._values
    const pairs = this._native.pairs(rawKeys, rawValues)
    try {
      for (let step = pairs.next(); step.length > 0; step = pairs.next()) {
        for (let at = 0; at < step.length; at += 2) yield [toKey(step[at]), toValue(step[at + 1])]
      }
    } finally {
      pairs.close()
    }
  }

  *keys() {
    for (const [key] of this.entries()) yield key
  }

  *values() {
    for (const [, value] of this.entries()) yield value
  }

  forEach(callback, thisArg) {
    for (const [key, value] of this.entries()) callback.call(thisArg, value, key, this)
  }

  [Symbol.iterator]() {
    return this.entries()
  }

  close() {
    this._native.close()
  }

  get [Symbol.toStringTag]() {
    return this.constructor.name
  }
}

// Node has the symbol from 18.18 on.
if (Symbol.dispose) Reader.prototype[Symbol.dispose] = Reader.prototype.close

module.exports = { Reader }
