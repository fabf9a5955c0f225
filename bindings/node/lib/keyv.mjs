import adapter from './keyv.cjs'

export const { KeyvHammerspace } = adapter
export default KeyvHammerspace
