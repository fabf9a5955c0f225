// Spaces as Maps: reading, writing, versions.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import esm, { Space } from 'hammerspace'
import { scratch } from './scratch.mjs'

const options = { durability: 'none' }
const fresh = (context, more) => Space.create(join(scratch(context), 'space'), { ...options, ...more })

test('both kinds of modules have the same classes', () => {
  const commonjs = createRequire(import.meta.url)('hammerspace')
  assert.equal(commonjs.Space, Space)
  assert.equal(esm.Space, Space)
})

test('a space is read as a Map is', async (context) => {
  const space = fresh(context)
  const map = new Map([['a', '1'], ['b', 'ü'], ['', ''], ['色', '🟥']])
  assert.equal(await space.load(map), 1)
  assert.deepEqual([...space], [...map])
  assert.deepEqual(new Map(space), map)
  assert.deepEqual([...space.keys()], [...map.keys()])
  assert.deepEqual([...space.values()], [...map.values()])
  assert.equal(space.size, 4)
  assert.deepEqual([space.get('色'), space.get('x'), space.has(''), space.has('x')], ['🟥', undefined, true, false])
  assert.deepEqual(space.getMany(['b', 'x', 'a', 'b']), ['ü', undefined, '1', 'ü'])
  assert.deepEqual(space.getMany(new Set(['a'])), ['1'])
  const seen = []
  space.forEach(function (value, key, map) { seen.push([this, key, value, map === space]) }, 7)
  assert.deepEqual(seen[0], [7, 'a', '1', true])
  assert.equal(String(space), '[object Space]')
})

test('keys and values of every length come back', async (context) => {
  const space = fresh(context)
  const lengths = [0, 1, ...Array.from({ length: 40 }, (_, at) => 100 + at), 1000, 100_000]
  for (const letter of ['x', 'ü', '色', '🟥']) {
    await space.load(lengths.map((length) => [letter.repeat(length), letter.repeat(length + 1)]))
    for (const length of lengths) assert.equal(space.get(letter.repeat(length)), letter.repeat(length + 1))
  }
})

test('strings that have no UTF-8 are found nowhere, and cannot be written', async (context) => {
  const space = fresh(context)
  await space.load([['\ufffd', 'replacement']])
  assert.deepEqual([space.get('\ud800'), space.has('\udc00x'), space.get('\ufffd')], [undefined, false, 'replacement'])
  assert.deepEqual(space.getMany(['\ud800', '\ufffd']), [undefined, 'replacement'])
  const writer = await space.writer()
  assert.throws(() => writer.put('a', '\ud83d'), { code: 'HAMMERSPACE_INVALID' })
  assert.equal(await writer.has('\ud800'), false)
  await writer.close()
})

test('Buffers go in and come out, and text that is none is an error', async (context) => {
  const raw = fresh(context, { keys: 'buffer', values: 'buffer' })
  const bytes = Buffer.from([0xff, 0, 0xfe])
  await raw.load([[bytes, bytes], [new Uint8Array([97]), 'text']])
  assert.deepEqual(raw.get(bytes), bytes)
  assert.deepEqual(raw.get('a'), Buffer.from('text'))
  assert.deepEqual([...raw.keys()], [bytes, Buffer.from('a')])
  const text = Space.open(raw.path)
  assert.throws(() => text.get(bytes), { code: 'HAMMERSPACE_INVALID', remedy: /Buffer/ })
  assert.equal(text.get('a'), 'text')
  for (const wrong of [7, null, undefined, {}, new Uint16Array(2)]) {
    assert.throws(() => text.get(wrong), { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' })
  }
})

test('a codec of the user', async (context) => {
  const json = { encode: JSON.stringify, decode: (bytes) => JSON.parse(bytes.toString()) }
  const space = fresh(context, { values: json })
  await space.load([['a', { deep: [1, 2] }]])
  assert.deepEqual(space.get('a'), { deep: [1, 2] })
  assert.deepEqual([...space.values()], [{ deep: [1, 2] }])
  assert.throws(() => Space.open(space.path, { values: 'yaml' }), TypeError)
})

test('a reader keeps its version until it refreshes, and a snapshot for good', async (context) => {
  const space = fresh(context)
  await space.load([['color', 'red']])
  const reader = Space.open(space.path)
  const snapshot = reader.snapshot()
  const walk = reader.entries()
  await space.load([['color', 'blue']])
  assert.deepEqual([reader.get('color'), space.get('color')], ['red', 'blue'])
  assert.deepEqual([reader.refresh(), reader.refresh(), reader.get('color'), reader.version], [true, false, 'blue', 2])
  assert.deepEqual([snapshot.get('color'), snapshot.version], ['red', 1])
  reader.close()
  assert.equal(snapshot.get('color'), 'red')
  assert.throws(() => reader.get('color'), { code: 'HAMMERSPACE_INVALID', message: /closed/ })
  assert.throws(() => walk.next(), { code: 'HAMMERSPACE_INVALID' })
})

test('an iteration goes on in its version, and lets it go when it is left', async (context) => {
  const space = fresh(context)
  const pairs = Array.from({ length: 5000 }, (_, at) => [`key ${at}`, `value ${at}`])
  await space.load(pairs)
  const walk = space.entries()
  const first = walk.next().value
  await space.load([['x', 'y']])
  assert.deepEqual([first, ...walk], pairs)
  for (const pair of space) { assert.deepEqual(pair, ['x', 'y']); break }
})

test('a writer is a Map with promises, private until it publishes', async (context) => {
  const space = fresh(context)
  const writer = await space.writer()
  assert.equal(writer.put('a', '1'), undefined)
  writer.put('b', '2')
  writer.delete('a')
  assert.deepEqual([await writer.get('b'), await writer.has('a'), await writer.size()], ['2', false, 1])
  assert.deepEqual(await writer.keys(), ['b'])
  assert.equal(space.size, 0)
  const published = writer.publish()
  writer.put('late', 'x')
  assert.equal(await published, 1)
  assert.deepEqual([...space], [['b', '2']], 'what is put after publish was called is not in it')
  await assert.rejects(writer.publish(), { code: 'HAMMERSPACE_INVALID' })
  await writer.close()
})

test('more than a batch is written in order, awaited or not', async (context) => {
  const space = fresh(context)
  const writer = await space.replace()
  const long = 'x'.repeat(100_000)
  let promises = 0
  for (let at = 0; at < 100; at++) if (writer.put(`key ${at % 10}`, long + at)) promises++
  assert.ok(promises > 2, 'full batches give promises')
  await writer.publish()
  assert.deepEqual([...space].map(([, value]) => value.slice(long.length)), [...'0123456789'].map((digit) => `9${digit}`))
})

test('writing does not hold up the event loop', async (context) => {
  const space = fresh(context, { durability: 'full' })
  const writer = await space.replace()
  for (let at = 0; at < 200_000; at++) {
    const full = writer.put(`key ${at}`, 'value')
    if (full) await full
  }
  let turns = 0
  const ticking = setInterval(() => turns++, 1)
  await writer.publish()
  clearInterval(ticking)
  assert.ok(turns > 1, `${turns} turns of the loop while it published`)
  assert.equal(space.size, 200_000)
})

test('what is closed before it publishes leaves nothing', async (context) => {
  const space = fresh(context)
  const writer = await space.writer()
  writer.put('a', 'x'.repeat(3_000_000))
  await writer.size()
  await writer[Symbol.asyncDispose]()
  await assert.rejects(writer.size(), { code: 'HAMMERSPACE_INVALID' })
  assert.equal(fs.readdirSync(space.path, { withFileTypes: true }).filter((entry) => entry.isDirectory()).length, 0)
})

test('updates do not lose each other', async (context) => {
  const space = fresh(context)
  const add = async (writer) => writer.put('count', String(Number((await writer.get('count')) ?? 0) + 1))
  await Promise.all(Array.from({ length: 20 }, () => space.update(add)))
  assert.equal(space.get('count'), '20')
  assert.equal(await space.update(() => 'nothing written'), 'nothing written')
  assert.equal(space.version, 20)
  await assert.rejects(space.update((writer) => { writer.put('a', '1'); throw new Error('mine') }), { message: 'mine' })
  assert.equal(space.version, 20)
})

test('an update runs again where another version was published, and waits no longer than it is told', async (context) => {
  const space = fresh(context)
  let runs = 0
  await space.update(async (writer) => {
    if (++runs === 1) await space.load([['other', '1']])
    writer.put('mine', '2')
  })
  assert.deepEqual([runs, [...space]], [2, [['other', '1'], ['mine', '2']]])
  const impatient = Space.open(space.path, { updateTimeout: 30 })
  await space.update(() => assert.rejects(impatient.update(() => {}), { code: 'HAMMERSPACE_BUSY' }))
})

test('versions can be listed and gone back to', async (context) => {
  const space = fresh(context, { keep: 3 })
  for (const color of ['red', 'green', 'blue']) await space.load([['color', color]])
  const [newest] = space.versions()
  assert.deepEqual([newest.number, newest.isCurrent, newest.entries, space.versions().length], [3, true, 1, 3])
  assert.ok(Math.abs(newest.published - Date.now()) < 600_000 && newest.bytes > 0)
  assert.equal(await space.rollback(), 2)
  assert.equal(space.get('color'), 'green')
  assert.equal(await space.rollback(1), 1)
  await assert.rejects(space.rollback(9), { code: 'HAMMERSPACE_MISSING' })
  await assert.rejects(space.rollback(-1), TypeError)
  await space.clear()
  assert.equal(space.size, 0)
})

test('paths are strings, Buffers or URLs', async (context) => {
  const path = join(scratch(context), 'wörter')
  await Space.create(pathToFileURL(path), options).load([['a', '1']])
  assert.equal(Space.open(path).get('a'), '1')
  assert.equal(Space.open(Buffer.from(path)).get('a'), '1')
  const closing = Space.open(path)
  closing[Symbol.dispose]()
  assert.throws(() => closing.size, { code: 'HAMMERSPACE_INVALID' })
})
