// The conformance cases of `spec/` over the package. `spec/README.md` is the page on their language.

import fs from 'node:fs'
import { join } from 'node:path'
import { Space } from 'hammerspace'

/** The step of this number, counted from 1, did not give what it says. */
export class Failed extends Error {
  constructor(step, finding) {
    super(`step ${step}: ${finding}`)
    this.step = step
  }
}

const NOTHING = null

/** What a word stands for. */
function word(text) {
  if (text === 'nothing') return NOTHING
  if (text === "''") return Buffer.alloc(0)
  const [, start, times] = /^(.*?)(?:\*(\d+))?$/s.exec(text)
  const hex = Buffer.from(start).toString('latin1')
  const bytes = Buffer.from(hex.replace(/%(..)/g, (_, digits) => String.fromCharCode(parseInt(digits, 16))), 'latin1')
  return times === undefined ? bytes : Buffer.concat(Array(Number(times)).fill(bytes))
}

/** Keys and values that are text are passed as text, so that both kinds are tried. */
function textOrBytes(bytes) {
  const text = bytes.toString()
  return Buffer.from(text).equals(bytes) ? text : bytes
}

function toBytes(value) {
  if (value === undefined) return NOTHING
  if (typeof value === 'boolean') return Buffer.from(value ? 'yes' : 'no')
  return Buffer.isBuffer(value) ? value : Buffer.from(String(value))
}

class Handle {
  pending = undefined
  walk = undefined
  value = undefined

  constructor(space) {
    this.space = space
  }

  async begun() {
    return (this.pending ??= await this.space.writer())
  }

  ended() {
    const { pending } = this
    if (!pending) throw new Error('nothing was begun')
    this.pending = undefined
    return pending
  }

  async drop() {
    await this.pending?.close()
    this.space.close()
  }

  async refresh() { return [this.space.refresh()] }
  async get(key) { return [this.space.get(key)] }
  async get_many(...keys) { return this.space.getMany(keys) }
  async has(key) { return [this.space.has(key)] }
  async len() { return [this.space.size] }
  async pairs() { return [...this.space].flat() }
  async walk_() { return (this.walk = this.space.entries()).next().value }
  async rest() { return [...this.walk].flat() }
  async hold(key) { return [(this.value = this.space.get(key))] }
  async held() { return [this.value] }
  async update() { this.pending = await this.space.writer(); return [] }
  async turn() { this.pending = await this.space.updater(); return [] }
  async replace() { this.pending = await this.space.replace(); return [] }
  async put(key, value) { await (await this.begun()).put(key, value); await this.pending.size(); return [] }
  async delete(key) { await (await this.begun()).delete(key); return [] }
  async publish() { return [await this.ended().publish()] }
  async discard() { await this.ended().close(); return [] }
  async clear() { await this.space.clear(); return [] }
  async versions() { return this.space.versions().map((version) => version.number) }
  async rollback(number) { return [await this.space.rollback(number && Number(number))] }
}

const OPTIONS = {
  keep: ['keep', Number],
  compression: ['compression', String],
  block_size: ['blockSize', Number],
  mend: ['mend', (value) => value === 'yes'],
}

const VERBS = new Set(Object.getOwnPropertyNames(Handle.prototype))
for (const name of ['constructor', 'begun', 'ended', 'drop']) VERBS.delete(name)

const DISK = {
  write(file, offset, bytes) {
    const opened = fs.openSync(file, fs.constants.O_WRONLY | fs.constants.O_CREAT)
    fs.writeSync(opened, bytes, 0, bytes.length, Number(offset))
    fs.closeSync(opened)
  },
  truncate: (file, length) => fs.truncateSync(file, Number(length)),
  remove: (file) => fs.unlinkSync(file),
  link: (file, target) => fs.symlinkSync(String(target), file),
  mkdir: (file) => fs.mkdirSync(file),
  directories: (file) => fs.readdirSync(file, { withFileTypes: true }).filter((entry) => entry.isDirectory()).length,
}

export class Runner {
  #handles = new Map()

  constructor(path) {
    this.path = path
  }

  async run({ steps }) {
    try {
      for (const [at, step] of steps.entries()) await this.#step(at + 1, step)
    } finally {
      for (const handle of this.#handles.values()) await handle.drop()
    }
  }

  async #step(number, step) {
    try {
      await this.#perform(step)
    } catch (error) {
      throw new Failed(number, `\`${step.slice(0, 200)}\`: ${String(error.message).slice(0, 500)}`)
    }
  }

  async #perform(step) {
    const [call, expected] = `${step} `.split(' -> ')
    const [name, verb, ...words] = call.trim().split(' ')
    const outcome = await this.#outcome(name, verb, words.map((text) => word(text) ?? Buffer.from('nothing')))
    if (expected === undefined) {
      if (outcome.error) throw outcome.error
      return
    }
    const wanted = expected.trim()
    const given = outcome.error ? `error ${kind(outcome.error)}` : outcome.map(toBytes)
    if (wanted.startsWith('error ') || outcome.error) {
      if (given !== wanted) throw new Error(`gives ${outcome.error ? `${given}: ${outcome.error.message}` : 'no error'}`)
      return
    }
    const results = wanted === '' ? [] : wanted.split(' ').map(word)
    const isSame = (result, at) => (result === NOTHING ? given[at] === NOTHING : given[at] !== NOTHING && result.equals(given[at]))
    if (results.length !== given.length || !results.every(isSame)) throw new Error(`gives ${String(given).slice(0, 200)}`)
  }

  /** What a verb gives; or the error that it ends with, if that is one of ours. */
  async #outcome(name, verb, words) {
    try {
      return await this.#call(name, verb, words)
    } catch (error) {
      if (kind(error)) return { error }
      throw error
    }
  }

  async #call(name, verb, words) {
    if (name === 'disk') {
      const given = DISK[verb](join(this.path, ...words.slice(0, 1).map(String)), ...words.slice(1))
      return given === undefined ? [] : [given]
    }
    if (verb === 'open' || verb === 'create') {
      this.#handles.set(name, new Handle(Space[verb](this.path, options(words))))
      return []
    }
    const method = verb === 'walk' ? 'walk_' : verb
    if (!VERBS.has(method)) throw new Error(`nobody knows ${verb}`)
    const handle = this.#handles.get(name)
    if (!handle) throw new Error(`${name} was never opened`)
    return handle[method](...words.map(textOrBytes))
  }
}

function options(words) {
  const given = words.map((text) => {
    const [name, value] = String(text).split('=')
    const [option, read] = OPTIONS[name]
    return [option, read(value)]
  })
  return { durability: 'none', updateTimeout: 50, values: 'buffer', keys: 'buffer', ...Object.fromEntries(given) }
}

/** The kind of an error, as `docs/design/errors.md` has it: `HAMMERSPACE_OWNER_DEAD` is `OwnerDead`. */
function kind(error) {
  const code = /^HAMMERSPACE_(\w+)$/.exec(error.code ?? '')?.[1]
  return code?.toLowerCase().replace(/(?:^|_)(.)/g, (_, letter) => letter.toUpperCase())
}
