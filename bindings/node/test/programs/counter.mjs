// Adds to a number ten times, in turn with the other workers.
import { workerData } from 'node:worker_threads'
import { Space } from 'hammerspace'

const space = Space.open(workerData, { durability: 'none' })
const add = async (writer) => writer.put('count', String(Number(await writer.get('count')) + 1))
for (let times = 0; times < 10; times++) await space.update(add)
