// Three processes say what they read before and after a publication.
import cluster from 'node:cluster'
import { once } from 'node:events'
import { Space } from 'hammerspace'

const path = process.argv[2]

async function primary() {
  const space = Space.create(path, { durability: 'none' })
  await space.load([['color', 'red']])
  const workers = Array.from({ length: 3 }, () => cluster.fork())
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  await space.load([['color', 'blue']])
  const said = workers.map((worker) => once(worker, 'message'))
  for (const worker of workers) worker.send('published')
  console.log(JSON.stringify((await Promise.all(said)).map(([text]) => text)))
  for (const worker of workers) worker.disconnect()
}

async function worker() {
  const space = Space.open(path)
  const before = space.get('color')
  process.send('ready')
  await once(process, 'message')
  space.refresh()
  process.send(`${before} ${space.get('color')}`)
}

await (cluster.isPrimary ? primary() : worker())
