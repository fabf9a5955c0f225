// Compiled, never run: what the types allow, and what they refuse.
import { Space, type Codec, type HammerspaceError, type Snapshot } from 'hammerspace'
import Backend from 'hammerspace/i18next'
import { KeyvHammerspace } from 'hammerspace/keyv'
import i18next from 'i18next'
import Keyv from 'keyv'

const words: Space = Space.open('words', { keep: 3, compression: 'zstd', poll: Infinity })
const word: string | undefined = words.get('de.greeting')
for (const [key, value] of words) console.log(key.length + value.length)
const numbers: Codec<number> = { encode: String, decode: (bytes) => Number(bytes.toString()) }
const prices = Space.create<string, number>(new URL('file:///prices'), { values: numbers })
const price: number | undefined = prices.get('apple')
const raw = Space.open<Buffer, Buffer>('words', { keys: 'buffer', values: 'buffer' })
const many: (Buffer | undefined)[] = raw.getMany([Buffer.from('a')])
const snapshot: Snapshot<string, number> = prices.snapshot()
const counted: number = await prices.update(async (writer) => {
  await writer.put('apple', 2)
  return writer.size()
})
{
  using held = words.snapshot()
  await using writer = await words.writer()
  writer.put('a', held.get('a') ?? 'b')
}
const cache = new Keyv({ store: new KeyvHammerspace(words) })
await i18next.use(Backend).init({ backend: { space: words } })
const code = (error: HammerspaceError) => error.code === 'HAMMERSPACE_BUSY' && error.remedy

// @ts-expect-error a key is a string
words.get(7)
// @ts-expect-error a snapshot stays as it is
snapshot.refresh()
// @ts-expect-error a space is opened, not constructed
new Space('words')
// @ts-expect-error numbers need a codec
Space.open<string, number>('words', { values: 'text' })
// @ts-expect-error there is no such option
Space.open('words', { speed: 'high' })
export { cache, code, counted, many, price, word }
