import backend from './i18next.cjs'

export const { Backend } = backend
export default Backend
