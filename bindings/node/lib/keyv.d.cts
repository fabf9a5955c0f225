import { EventEmitter } from 'node:events'
import { Options, Space } from './index.cjs'

/** A storage adapter for Keyv: `new Keyv({ store: new KeyvHammerspace('cache') })`. */
export class KeyvHammerspace extends EventEmitter {
  /** Over a space of text, or over the one at a path, which is made where it is missing. */
  constructor(space: Space | string, options?: Options)
  opts: { dialect: string; url: string }
  namespace?: string
  get(key: string): Promise<any>
  getMany(keys: string[]): Promise<any[]>
  has(key: string): Promise<boolean>
  hasMany(keys: string[]): Promise<boolean[]>
  set(key: string, value: any, ttl?: number): Promise<boolean>
  setMany(entries: { key: string; value: any; ttl?: number }[]): Promise<any>
  delete(key: string): Promise<boolean>
  deleteMany(keys: string[]): Promise<boolean>
  clear(): Promise<void>
  iterator(namespace?: string): AsyncGenerator<any[], void>
  disconnect(): Promise<void>
}
