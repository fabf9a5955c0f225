// A worker of the bench: holds the data in one of three ways, and says when it does.

import { join } from 'node:path'

const [kind, scratch, entries] = process.argv.slice(2)
let data
if (kind !== 'nothing') {
  const { Space } = await import('hammerspace')
  const space = Space.open(join(scratch, 'space'))
  data = kind === 'map' ? new Map(space) : space
  if (data.size !== Number(entries)) throw new Error('the data is not whole')
  for (const at of Array(1000).keys()) data.get(`de.words.key number ${at}`)
}
process.once('message', () => process.exit())
process.send('ready')
