// i18next reads its resources from a space.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Space } from 'hammerspace'
import Backend from 'hammerspace/i18next'
import i18next from 'i18next'
import { scratch } from './scratch.mjs'

const document = (hello) => JSON.stringify({ hello, things_one: '{{count}} Ding', things_other: '{{count}} Dinge' })

test('a translation, a plural, a fallback, and what is published later', async (context) => {
  const space = Space.create(join(scratch(context), 'space'), { durability: 'none' })
  await space.load([['de/translation', document('Hallo {{name}}')], ['en/translation', '{"bye":"Bye"}']])
  const i18n = i18next.createInstance()
  await i18n.use(Backend).init({ lng: 'de', fallbackLng: 'en', backend: { path: space.path } })
  assert.equal(i18n.t('hello', { name: 'Ada' }), 'Hallo Ada')
  assert.deepEqual([i18n.t('things', { count: 1 }), i18n.t('things', { count: 2 })], ['1 Ding', '2 Dinge'])
  assert.equal(i18n.t('bye'), 'Bye')

  await space.update((writer) => writer.put('de/translation', document('Moin')))
  await i18n.reloadResources()
  assert.equal(i18n.t('hello'), 'Moin')
})

test('what the space lacks and what is damaged is told to i18next', async (context) => {
  const space = Space.create(join(scratch(context), 'space'), { durability: 'none' })
  await space.load([['de/damaged', '{']])
  const backend = new Backend()
  backend.init({}, { space })
  const read = (namespace) => new Promise((resolve) => backend.read('de', namespace, (error) => resolve(error)))
  assert.match((await read('missing')).message, /no de\/missing/)
  assert.equal((await read('damaged')).name, 'SyntaxError')
})
