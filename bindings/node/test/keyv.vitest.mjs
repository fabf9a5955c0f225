// Keyv's own suite for storage adapters, and what it does not ask for.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import keyvTestSuite from '@keyv/test-suite'
import { Space } from 'hammerspace'
import KeyvHammerspace from 'hammerspace/keyv'
import Keyv from 'keyv'
import * as vitest from 'vitest'

const path = mkdtempSync(join(tmpdir(), 'hammerspace-keyv-'))
vitest.afterAll(() => rmSync(path, { recursive: true }))
const store = () => new KeyvHammerspace(path, { durability: 'none' })

keyvTestSuite(vitest, Keyv, store)

vitest.it('changes at one time share a version, and other processes see them', async ({ expect }) => {
  const keyv = new Keyv({ store: store() })
  await keyv.clear()
  const space = Space.open(path)
  const before = space.versions()[0]?.number ?? 0
  await Promise.all(Array.from({ length: 50 }, (_, at) => keyv.set(`key ${at}`, at)))
  space.refresh()
  expect(space.size).toBe(50)
  expect(space.version - before).toBeLessThanOrEqual(2)
  expect(await keyv.getMany(['key 7', 'key x'])).toEqual([7, undefined])
})

vitest.it('a failed publication is an error of each change', async ({ expect }) => {
  const adapter = store()
  await adapter.disconnect()
  await expect(adapter.set('a', 'b')).rejects.toMatchObject({ code: 'HAMMERSPACE_INVALID' })
})

vitest.it('iterates over a namespace', async ({ expect }) => {
  const adapter = store()
  await adapter.clear()
  await adapter.setMany([{ key: 'a:1', value: 'x' }, { key: 'b:1', value: 'y' }])
  const pairs = []
  for await (const pair of adapter.iterator('a')) pairs.push(pair)
  expect(pairs).toEqual([['a:1', 'x']])
  expect(await adapter.hasMany(['a:1', 'c'])).toEqual([true, false])
})
