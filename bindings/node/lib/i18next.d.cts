import { Space } from './index.cjs'

/** A backend for i18next: `i18next.use(Backend).init({ backend: { path: 'locales' } })`. */
export class Backend {
  static type: 'backend'
  type: 'backend'
  init(services: unknown, options: { space?: Space; path?: string }): void
  /** The document `language/namespace` of the current version. */
  read(language: string, namespace: string, callback: (error: any, data: any) => void): void
}
