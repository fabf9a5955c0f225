// The package beside lmdb, and beside a Map in each worker: `bench.mjs SCRATCH [--small]` prints rows as
// JSON.
//
// All take turns, and the medians of the rounds count. Keys are made anew for each lookup, as a program
// makes them from what it was asked.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { join } from 'node:path'
import { Space } from 'hammerspace'
import { open } from 'lmdb'

const [scratch, size] = process.argv.slice(2)
const isSmall = size === '--small'
const [ENTRIES, LOOKUPS, ROUNDS, WORKERS] = isSmall ? [1000, 2000, 3, 2] : [1_000_000, 500_000, 9, 8]
const BATCH = 64

const key = (at) => `de.words.key number ${at}`
const value = (at) => `${at} `.padEnd(100, 'Wort ')
const pairs = function* () { for (let at = 0; at < ENTRIES; at++) yield [key(at), value(at)] }

/** The same numbers in every run. */
let seed = 44
const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % ENTRIES
const numbers = Array.from({ length: LOOKUPS }, random)

const median = (list) => list.sort((one, other) => one - other)[list.length >> 1]

/** Nanoseconds for a key, in each of the ways. */
function inTurn(...ways) {
  const taken = ways.map(() => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, way] of ways.entries()) {
      const begun = process.hrtime.bigint()
      way()
      taken[at].push(Number(process.hrtime.bigint() - begun) / LOOKUPS)
    }
  }
  return taken.map(median)
}

function each(map) {
  return () => {
    for (const at of numbers) if (map.get(key(at)) === undefined) throw new Error('a key is missing')
  }
}

function batches(space) {
  return () => {
    for (let from = 0; from < LOOKUPS; from += BATCH) {
      const found = space.getMany(numbers.slice(from, from + BATCH).map(key))
      if (found.includes(undefined)) throw new Error('a key is missing')
    }
  }
}

/** Megabytes that the machine gives to workers: what each has to itself, and its part of what they share. */
async function memory(kind) {
  const program = new URL('worker.mjs', import.meta.url)
  const workers = Array.from({ length: WORKERS }, () => fork(program, [kind, scratch, String(ENTRIES)]))
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  const bytes = workers.map(({ pid }) => {
    const [, kilobytes] = /^Pss: +(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))
    return Number(kilobytes) * 1024
  })
  await Promise.all(workers.map((worker) => (worker.send('end'), once(worker, 'exit'))))
  return bytes.reduce((sum, one) => sum + one) / 1e6
}

const space = Space.create(join(scratch, 'space'))
await space.load(pairs())
const lmdb = open({ path: join(scratch, 'lmdb'), encoding: 'string', compression: false, mapSize: 4e9 })
for (const [key, value] of pairs()) lmdb.put(key, value)
await lmdb.flushed

const [get, lmdbGet, many] = inTurn(each(space), each(lmdb), batches(space))
await lmdb.close()
const [ours, maps, empty] = [await memory('space'), await memory('map'), await memory('nothing')]
const row = (name, unit, ours, peer, peer_name, goal = null) => ({ name, unit, ours, peer, peer_name, goal })
console.log(
  JSON.stringify([
    row('get', 'ns', get, lmdbGet, 'lmdb', isSmall ? null : '<= 1.2'),
    row('getMany of 64', 'ns', many, lmdbGet, 'lmdb, one by one'),
    row(`memory of ${WORKERS} workers`, 'MB', ours, maps, 'a Map in each'),
    row(`memory of ${WORKERS} workers`, 'MB', ours, empty, 'without data'),
  ]),
)
