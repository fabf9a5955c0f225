// Writes until it is ended, and publishes nothing.
import { parentPort, workerData } from 'node:worker_threads'
import { Space } from 'hammerspace'

const space = Space.open(workerData, { durability: 'none' })
await space.update(async (writer) => {
  parentPort.postMessage('begun')
  for (let at = 0; ; at++) await writer.put(`key ${at}`, 'x'.repeat(100_000))
})
