'use strict'
// The next version, private until it is published. Changes are gathered here and made on another thread,
// batch by batch, and one job after the other: so they happen in the order of the calls, whether or not
// their promises are awaited.

const native = require('./native.cjs')

/** A batch of so many bytes is handed over. */
const BATCH = 1 << 20

class Writer {
  #native
  #keys
  #values
  #batch = new native.Batch()
  /** About how many bytes the batch has. */
  #bytes = 0
  /** Settles when the jobs so far are done. */
  #last = Promise.resolve()
  /** The first batch that failed: what comes after it must not be published without it. */
  #failed

  constructor(writer, keys, values) {
    this.#native = writer
    this.#keys = keys
    this.#values = values
  }

  put(key, value) {
    return this.#gathered(this.#batch.put(this.#keys.encode(key), this.#values.encode(value)))
  }

  delete(key) {
    return this.#gathered(this.#batch.delete(this.#keys.encode(key)))
  }

  async putAll(pairs) {
    for await (const [key, value] of pairs) {
      const flushed = this.put(key, value)
      if (flushed) await flushed
    }
  }

  async get(key) {
    const encoded = this.#keys.encode(key)
    const found = await this.#after(() => this.#native.get(encoded, this.#values.isRaw))
    return found === undefined ? undefined : this.#values.decode(found)
  }

  async has(key) {
    const encoded = this.#keys.encode(key)
    return (await this.#after(() => this.#native.get(encoded, true))) !== undefined
  }

  size() {
    return this.#after(() => this.#native.size())
  }

  async keys() {
    const keys = await this.#after(() => this.#native.keys(this.#keys.isRaw))
    return keys.map(this.#keys.decode)
  }

  clear() {
    return this.#after(() => this.#native.clear())
  }

  publish() {
    return this.#after(() => this.#native.publish())
  }

  close() {
    return this.#queue(() => this.#native.close())
  }

  /**
   * Publishes, if anything changed. Whether that is done; it is not where another version was published and
   * it begins again.
   */
  async _publishChanges(isLast) {
    if (!(await this.#after(() => this.#native.isChanged()))) return true
    try {
      await this.publish()
      return true
    } catch (error) {
      if (error.code !== 'HAMMERSPACE_CHANGED' || isLast) throw error
    }
    await this.#queue(() => this.#native.restart())
    return false
  }

  /** A promise of the batch, if it is full. */
  #gathered(bytes) {
    this.#bytes = bytes
    return bytes < BATCH ? undefined : this.#made()
  }

  #made() {
    const batch = this.#batch
    this.#batch = new native.Batch()
    this.#bytes = 0
    const made = this.#queue(() => this.#native.make(batch))
    // Whatever comes next reports it, should nothing wait for this one.
    made.catch((error) => (this.#failed ??= error))
    return made
  }

  /** Does something once all changes so far are made. */
  #after(work) {
    if (this.#bytes > 0) this.#made()
    return this.#queue(() => {
      if (this.#failed) throw this.#failed
      return work()
    })
  }

  #queue(work) {
    const done = this.#last.then(work)
    this.#last = done.then(
      () => undefined,
      () => undefined,
    )
    return done
  }
}

// Node has the symbol from 18.18 on.
if (Symbol.asyncDispose) Writer.prototype[Symbol.asyncDispose] = Writer.prototype.close

module.exports = { Writer }
