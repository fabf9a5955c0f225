// A service over a space: `node words-server.mjs SPACE [PORT]`. Each request sees what is current when it
// comes.
import express from 'express'
import { Space } from 'hammerspace'

const [path, port = '8080'] = process.argv.slice(2)
const words = Space.open(path)
const app = express()

app.use((_request, _response, next) => {
  words.refresh() // nanoseconds where nothing was published
  next()
})

app.get('/words/:key', (request, response) => {
  const word = words.get(request.params.key)
  if (word === undefined) response.status(404).send('no such word\n')
  else response.type('text').send(word)
})

app.put('/words/:key', express.text(), async (request, response) => {
  await words.update((writer) => writer.put(request.params.key, request.body))
  response.status(204).end()
})

const server = app.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
process.on('SIGTERM', () => {
  server.close()
  server.closeIdleConnections()
})
