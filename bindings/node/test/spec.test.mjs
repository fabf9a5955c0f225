// All languages do the same: the cases in `spec/`. Those that fork are left out: a process of Node cannot.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'smol-toml'
import { Failed, Runner } from './spec-runner.mjs'
import { root, scratch } from './scratch.mjs'

const SPEC = join(root, 'spec')
const files = fs.readdirSync(SPEC).filter((name) => name.endsWith('.toml'))
const cases = files.flatMap((name) => parse(fs.readFileSync(join(SPEC, name), 'utf8')).case)
const runnable = cases.filter((one) => !one.steps.includes('fork'))

test('there are cases, and few that fork', () => {
  assert.ok(runnable.length > 70 && cases.length - runnable.length < 10, `${runnable.length} of ${cases.length}`)
})

for (const one of runnable) {
  test(one.name, async (context) => {
    const run = new Runner(join(scratch(context), 'space')).run(one)
    if (one.fails === undefined) return run
    await assert.rejects(run, (error) => error instanceof Failed && error.step === one.fails)
  })
}
