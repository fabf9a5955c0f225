// The guide's application: it answers from what is current, and publishes what is put.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Space } from 'hammerspace'
import { scratch } from './scratch.mjs'

const SERVER = fileURLToPath(new URL('samples/words-server.mjs', import.meta.url))

test('an application of Express refreshes with each request', async (context) => {
  const space = Space.create(join(scratch(context), 'space'), { durability: 'none' })
  await space.load([['greeting', 'Guten Tag']])
  const server = spawn(process.execPath, [SERVER, space.path, '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  context.after(() => server.kill())
  const [address] = await once(server.stdout.setEncoding('utf8'), 'data')
  const url = `${address.trim()}/words/greeting`
  const get = async () => (await fetch(url)).text()

  assert.equal(await get(), 'Guten Tag')
  await space.load([['greeting', 'Grüezi']])
  assert.equal(await get(), 'Grüezi')
  const put = await fetch(url, { method: 'PUT', body: 'Moin', headers: { 'content-type': 'text/plain' } })
  assert.deepEqual([put.status, await get(), space.refresh(), space.get('greeting')], [204, 'Moin', true, 'Moin'])
  assert.equal((await fetch(`${address.trim()}/words/nothing`)).status, 404)
  server.kill()
  assert.deepEqual(await once(server, 'exit'), [0, null])
})
