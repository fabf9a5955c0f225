// Worker threads and processes: each opens the space by itself, and all read the same memory.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { Space } from 'hammerspace'
import { scratch } from './scratch.mjs'

const program = (name) => fileURLToPath(new URL(name, import.meta.url))

test('worker threads read and update one space', async (context) => {
  const space = Space.create(join(scratch(context), 'space'), { durability: 'none' })
  await space.load([['count', '0']])
  const workers = Array.from({ length: 4 }, () => new Worker(program('programs/counter.mjs'), { workerData: space.path }))
  const codes = await Promise.all(workers.map((worker) => once(worker, 'exit')))
  assert.deepEqual(codes.flat(), [0, 0, 0, 0])
  assert.ok(space.refresh())
  assert.equal(space.get('count'), '40')
})

test('a worker thread may be ended while it writes, and nothing is left of that', async (context) => {
  const space = Space.create(join(scratch(context), 'space'), { durability: 'none' })
  await space.load([['count', '0']])
  const worker = new Worker(program('programs/busy.mjs'), { workerData: space.path })
  await once(worker, 'message')
  await worker.terminate()
  assert.deepEqual([space.refresh(), space.get('count')], [false, '0'])
  await space.update((writer) => { writer.put('count', '1') })
  assert.equal(space.get('count'), '1')
})

test('the processes of a cluster read one space, and see what is published', (context) => {
  const path = join(scratch(context), 'space')
  const run = spawnSync(process.execPath, [program('programs/cluster.mjs'), path], { encoding: 'utf8', timeout: 60_000 })
  assert.equal(run.status, 0, run.stderr)
  assert.deepEqual(JSON.parse(run.stdout), ['red blue', 'red blue', 'red blue'])
})
