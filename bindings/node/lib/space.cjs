'use strict'
// A handle on a directory: the current version, and what makes the next one.

const { resolve } = require('node:path')
const { setTimeout: wait } = require('node:timers/promises')
const { fileURLToPath } = require('node:url')
const native = require('./native.cjs')
const { parse } = require('./options.cjs')
const { Reader } = require('./reader.cjs')
const { Writer } = require('./writer.cjs')

/** How often an update runs, where others publish each time. */
const UPDATE_RUNS = 100

/** How long to wait for a turn before asking again, at first and at most, in milliseconds. */
const FIRST_WAIT = 1
const LONGEST_WAIT = 25

class Snapshot extends Reader {}

class Space extends Reader {
  #path
  #updateTimeout

  static open(path, options) {
    return Space.#at(path, false, options)
  }

  static create(path, options) {
    return Space.#at(path, true, options)
  }

  static #at(given, create, options) {
    const { keys, values, updateTimeout, words } = parse(options)
    const path = given instanceof URL ? fileURLToPath(given) : given
    return new Space(native.Reader.open(path, create, words), keys, values, path, updateTimeout)
  }

  constructor(reader, keys, values, path, updateTimeout) {
    if (!(reader instanceof native.Reader)) throw new TypeError('use Space.open or Space.create')
    super(reader, keys, values)
    this.#path = typeof path === 'string' ? resolve(path) : path
    this.#updateTimeout = updateTimeout
  }

  get path() {
    return this.#path
  }

  refresh() {
    return this._native.refresh()
  }

  snapshot() {
    return new Snapshot(this._native.snapshot(), this._keys, this._values)
  }

  async writer() {
    return this.#writing(await this._native.writer(false))
  }

  async replace() {
    return this.#writing(await this._native.writer(true))
  }

  async updater() {
    const latest = performance.now() + this.#updateTimeout
    for (let pause = FIRST_WAIT; ; pause = Math.min(2 * pause, LONGEST_WAIT)) {
      try {
        return this.#writing(await this._native.updater())
      } catch (error) {
        if (error.code !== 'HAMMERSPACE_BUSY' || performance.now() + pause > latest) throw error
      }
      await wait(pause)
    }
  }

  async update(change) {
    const writer = await this.updater()
    try {
      for (let run = 1; ; run++) {
        const result = await change(writer)
        if (await writer._publishChanges(run === UPDATE_RUNS)) return result
      }
    } finally {
      await writer.close()
    }
  }

  async load(pairs) {
    const writer = await this.replace()
    try {
      await writer.putAll(pairs)
      return await writer.publish()
    } finally {
      await writer.close()
    }
  }

  async clear() {
    await this._native.clear()
  }

  versions() {
    return this._native.versions().map((version) => ({ ...version, published: new Date(version.published) }))
  }

  async rollback(number) {
    if (number !== undefined && !(Number.isSafeInteger(number) && number > 0)) {
      throw new TypeError('versions have whole numbers from 1 on')
    }
    return this._native.rollback(number)
  }

  #writing(writer) {
    return new Writer(writer, this._keys, this._values)
  }
}

module.exports = { Snapshot, Space }
