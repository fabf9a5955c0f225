// Every kind of error has a code, and says what Rust knows.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Space } from 'hammerspace'
import { root, scratch } from './scratch.mjs'

test('every kind has a code, in the types too', () => {
  const page = fs.readFileSync(join(root, 'docs/design/errors.md'), 'utf8')
  const kinds = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, kind]) => kind)
  const codes = kinds.map((kind) => `HAMMERSPACE_${kind.replace(/(?!^)([A-Z])/g, '_$1').toUpperCase()}`)
  assert.equal(codes.length, 10)
  for (const file of ['bindings/node/src/errors.rs', 'bindings/node/lib/index.d.cts', 'docs/guide/node.md']) {
    const text = fs.readFileSync(join(root, file), 'utf8')
    for (const code of codes) assert.ok(text.includes(code), `${code} is not in ${file}`)
  }
})

test('an error says what, where, and what to do', async (context) => {
  const path = join(scratch(context), 'space')
  const open = () => Space.open(path)
  const missing = { name: 'Error', code: 'HAMMERSPACE_MISSING', path, remedy: /^create the space first/ }
  assert.throws(open, missing)
  const space = Space.create(path, { durability: 'none' })
  await space.load([['a', '1']])
  fs.writeFileSync(join(path, 'current/hammerspace.spl'), Buffer.alloc(100))
  assert.throws(open, (error) => {
    assert.equal(error.code, 'HAMMERSPACE_CORRUPT')
    assert.ok(error.path.endsWith('hammerspace.spl') && error.offset >= 0 && error.finding, error.message)
    return error.message.includes(error.finding) && error.stack.includes('errors.test.mjs')
  })
  await assert.rejects(Space.create(path, { mend: true }).writer(), { code: 'HAMMERSPACE_CORRUPT' })
})

test('options that cannot be are refused, with what can be', (context) => {
  const path = scratch(context)
  const refused = { keep: 0, compression: 'gzip', blockSize: -1, durability: 1, poll: -1, paging: '?', mend: 2, speed: 'high' }
  for (const [name, value] of Object.entries(refused)) {
    assert.throws(() => Space.open(path, { [name]: value }), { code: 'HAMMERSPACE_INVALID' }, name)
  }
  assert.throws(() => Space.open(path, { updateTimeout: 'soon' }), TypeError)
  const all = { keep: 2, compression: 'zstd', blockSize: 512, cacheBytes: 1e6, poll: Infinity, mend: true, keys: undefined }
  assert.equal(Space.open(path, all).size, 0)
})
