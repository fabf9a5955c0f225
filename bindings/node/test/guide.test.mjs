// The guide's code, run as it stands: one module of all its blocks, in a directory of its own.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { root, scratch } from './scratch.mjs'

/** Beside the suite, so that the package is found. Its lines are those of the page. */
const MODULE = fileURLToPath(new URL('guide-as-a-module.mjs', import.meta.url))

function run(page, directory) {
  let isCode = false
  const lines = page.split('\n').map((line) => {
    const isFence = line.startsWith('```')
    if (isFence) isCode = line === '```js'
    return isCode && !isFence ? line : ''
  })
  lines[0] = "import assert from 'node:assert/strict'"
  fs.writeFileSync(MODULE, lines.join('\n'))
  return spawnSync(process.execPath, [MODULE], { cwd: directory, encoding: 'utf8', timeout: 60_000 })
}

test('the guide', (context) => {
  const page = fs.readFileSync(join(root, 'docs/guide/node.md'), 'utf8')
  assert.ok(page.split('```js\n').length > 8)
  const { status, stderr } = run(page, scratch(context))
  assert.equal(status, 0, stderr)
})

test('canary: a wrong page is noticed', (context) => {
  const page = '# Page\n\n```js\nconst x = 1\n```\n\n```js\nassert.equal(x, 2)\n```\n'
  const { status, stderr } = run(page, scratch(context))
  assert.equal(status, 1)
  assert.match(stderr, /guide-as-a-module\.mjs:8/)
})
