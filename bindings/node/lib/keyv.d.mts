export { KeyvHammerspace, KeyvHammerspace as default } from './keyv.cjs'
