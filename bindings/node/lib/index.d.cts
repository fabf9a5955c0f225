/** What keys or values are in JavaScript, and how they become bytes. */
export interface Codec<T> {
  /** A string stands for its UTF-8. */
  encode(part: T): string | Uint8Array
  decode(bytes: Buffer): T
}

/** `text`, for strings; `buffer`, which gives Buffers and takes any Uint8Array or string; or your own. */
export type CodecOf<T> = Codec<T> | ([T] extends [string] ? 'text' : never) | ([T] extends [Uint8Array] ? 'buffer' : never)

/** How a space is opened. Times are in milliseconds. */
export interface Options {
  /** How many versions stay on disk, the current one among them. One by default. */
  keep?: number
  /** How a writer compresses values. By default as it finds them, and at first not at all. */
  compression?: 'none' | 'snappy' | 'zstd'
  /** The bytes that are compressed together. */
  blockSize?: number
  /** Memory for decoded blocks of compressed versions. */
  cacheBytes?: number
  /** `none` leaves it to the system when files reach the disk: a power cut may take away versions. */
  durability?: 'full' | 'none'
  /**
   * How often `refresh` looks at the directory itself; `Infinity` for never. Publications of Hammerspace are
   * seen at once.
   */
  poll?: number
  /** How the system reads files ahead. */
  paging?: string
  /** How long an update waits for its turn. One minute by default. */
  updateTimeout?: number
  /** Whether a space that is damaged can be opened, to be replaced. */
  mend?: boolean
}

export interface Codecs<K, V> {
  keys?: CodecOf<K>
  values?: CodecOf<V>
}

/** A version on disk. */
export interface Version {
  number?: number
  name: string
  isCurrent: boolean
  entries?: number
  bytes: number
  published: Date
}

/** What a promise is rejected with and what is thrown: an `Error` with a code for what to do about it. */
export interface HammerspaceError extends Error {
  code:
    | 'HAMMERSPACE_CORRUPT'
    | 'HAMMERSPACE_UNSUPPORTED'
    | 'HAMMERSPACE_BUSY'
    | 'HAMMERSPACE_FULL'
    | 'HAMMERSPACE_INVALID'
    | 'HAMMERSPACE_PERMISSION'
    | 'HAMMERSPACE_MISSING'
    | 'HAMMERSPACE_OWNER_DEAD'
    | 'HAMMERSPACE_IO'
    | 'HAMMERSPACE_CHANGED'
  finding: string
  remedy?: string
  path?: string
  offset?: number
  errno?: number
}

/**
 * One version, or the version that a space is at: a Map that cannot be changed, in the order in which keys
 * were last written.
 */
declare abstract class Reader<K, V> implements Iterable<[K, V]> {
  get(key: K): V | undefined
  has(key: K): boolean
  /** The values of many keys, all of one version, in the order of the keys. */
  getMany(keys: Iterable<K>): (V | undefined)[]
  /** O(1). */
  get size(): number
  /** The number of the version. */
  get version(): number | undefined
  keys(): IterableIterator<K>
  values(): IterableIterator<V>
  entries(): IterableIterator<[K, V]>
  forEach(callback: (value: V, key: K, reader: this) => void, thisArg?: unknown): void
  [Symbol.iterator](): IterableIterator<[K, V]>
  close(): void
  [Symbol.dispose](): void
  get [Symbol.toStringTag](): string
}

/** One version, held. It outlives its space. */
export class Snapshot<K = string, V = string> extends Reader<K, V> {
  private constructor()
}

/** A map in a directory, at one version until it is told to `refresh`. */
export class Space<K = string, V = string> extends Reader<K, V> {
  private constructor()
  /** Opens the space in a directory, which must exist. */
  static open<K = string, V = string>(path: string | URL | Buffer, options?: Options & Codecs<K, V>): Space<K, V>
  /** The same, and makes the directory where it is missing. */
  static create<K = string, V = string>(path: string | URL | Buffer, options?: Options & Codecs<K, V>): Space<K, V>
  get path(): string | Buffer
  /** Moves on to the current version; whether it was another one. Nanoseconds where nothing was published. */
  refresh(): boolean
  snapshot(): Snapshot<K, V>
  /** A writer that starts from the current version. The last to publish wins. */
  writer(): Promise<Writer<K, V>>
  /** A writer that starts empty. */
  replace(): Promise<Writer<K, V>>
  /**
   * A writer that starts from the current version, in turn: updates queue, so that none loses what another
   * wrote.
   */
  updater(): Promise<Writer<K, V>>
  /**
   * Does that, and publishes what was written. Where another version was published meanwhile it runs again.
   */
  update<T>(change: (writer: Writer<K, V>) => T | PromiseLike<T>): Promise<T>
  /** Replaces everything by these pairs; gives the number of the version. */
  load(pairs: Iterable<readonly [K, V]> | AsyncIterable<readonly [K, V]>): Promise<number>
  /** Empties the space, and drops every version of it. */
  clear(): Promise<void>
  /** The versions on disk, newest first. */
  versions(): Version[]
  /** Makes the version of this number current again, or the one before the current one; gives its number. */
  rollback(number?: number): Promise<number>
}

/** The next version, private until it is published. */
export class Writer<K = string, V = string> {
  private constructor()
  /** Gives a promise where much is pending, to be awaited before more is put. */
  put(key: K, value: V): Promise<void> | undefined
  delete(key: K): Promise<void> | undefined
  putAll(pairs: Iterable<readonly [K, V]> | AsyncIterable<readonly [K, V]>): Promise<void>
  get(key: K): Promise<V | undefined>
  has(key: K): Promise<boolean>
  size(): Promise<number>
  keys(): Promise<K[]>
  clear(): Promise<void>
  /** Makes this the current version; gives its number. */
  publish(): Promise<number>
  /** Gives up what is not published. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
