// The bench on small inputs, so that it cannot rot.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { scratch } from './scratch.mjs'

test('the bench runs small', (context) => {
  const program = fileURLToPath(new URL('bench/bench.mjs', import.meta.url))
  const run = spawnSync(process.execPath, [program, scratch(context), '--small'], { encoding: 'utf8', timeout: 120_000 })
  assert.equal(run.status, 0, run.stderr)
  const rows = JSON.parse(run.stdout)
  assert.equal(rows.length, 4)
  for (const row of rows) {
    assert.deepEqual(Object.keys(row).sort(), ['goal', 'name', 'ours', 'peer', 'peer_name', 'unit'])
    assert.ok(row.ours > 0 && row.peer > 0, JSON.stringify(row))
  }
})
