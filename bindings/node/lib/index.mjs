// The classes are those of the CommonJS entry: a program that loads both has one copy of them.
import hammerspace from './index.cjs'

export const { Snapshot, Space, Writer } = hammerspace
export default hammerspace
