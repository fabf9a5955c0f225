'use strict'
// A storage adapter for Keyv. Reads see what is current. Changes that come while another is published wait
// for it, and are published together: a version for each would cost milliseconds for each.

const { EventEmitter } = require('node:events')
const { Space } = require('./space.cjs')

class KeyvHammerspace extends EventEmitter {
  #space
  /** Changes that wait: what makes each, and the promise of it. */
  #waiting = []
  #isPublishing = false

  constructor(space, options) {
    super()
    this.#space = space instanceof Space ? space : Space.create(space, options)
    this.opts = { dialect: 'hammerspace', url: `hammerspace:${this.#space.path}` }
  }

  async get(key) {
    return this.#current().get(key)
  }

  async getMany(keys) {
    return this.#current().getMany(keys)
  }

  async has(key) {
    return this.#current().has(key)
  }

  async hasMany(keys) {
    return this.#current().getMany(keys).map((value) => value !== undefined)
  }

  /** Keyv keeps the time at which a value expires in the value itself. */
  set(key, value) {
    return this.setMany([{ key, value }])
  }

  setMany(entries) {
    return this.#change(async (writer) => {
      for (const { key, value } of entries) await writer.put(key, value)
      return true
    })
  }

  delete(key) {
    return this.deleteMany([key])
  }

  /** Whether any of them was there. */
  deleteMany(keys) {
    return this.#change(async (writer) => {
      let anyWasThere = false
      for (const key of keys) {
        if (!(await writer.has(key))) continue
        anyWasThere = true
        await writer.delete(key)
      }
      return anyWasThere
    })
  }

  /** Deletes the keys of the namespace; all, where there is none. */
  clear() {
    const prefix = prefixOf(this.namespace)
    return this.#change(async (writer) => {
      for (const key of await writer.keys()) if (key.startsWith(prefix)) await writer.delete(key)
    })
  }

  async *iterator(namespace) {
    const prefix = prefixOf(namespace)
    for (const pair of this.#current()) if (pair[0].startsWith(prefix)) yield pair
  }

  async disconnect() {
    this.#space.close()
  }

  #current() {
    this.#space.refresh()
    return this.#space
  }

  #change(make) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ make, resolve, reject })
      if (!this.#isPublishing) this.#publish()
    })
  }

  async #publish() {
    this.#isPublishing = true
    while (this.#waiting.length > 0) {
      const changes = this.#waiting.splice(0)
      try {
        const results = await this.#space.update(async (writer) => {
          const results = []
          for (const { make } of changes) results.push(await make(writer))
          return results
        })
        for (const [at, { resolve }] of changes.entries()) resolve(results[at])
      } catch (error) {
        for (const { reject } of changes) reject(error)
      }
    }
    this.#isPublishing = false
  }
}

const prefixOf = (namespace) => (namespace ? `${namespace}:` : '')

module.exports = { KeyvHammerspace }
