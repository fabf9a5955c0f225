export { Backend, Backend as default } from './i18next.cjs'
