'use strict'
// A backend for i18next: each namespace of each language is a JSON document in a space, under the key
// `language/namespace`.

const { Space } = require('./space.cjs')

class Backend {
  static type = 'backend'
  type = 'backend'
  #space

  /** `backend: { space }`, or `backend: { path }` among the options of i18next. */
  init(_services, { space, path }) {
    this.#space = space ?? Space.open(path)
  }

  /** What the current version has: `i18next.reloadResources()` reads again. */
  read(language, namespace, callback) {
    const key = `${language}/${namespace}`
    try {
      this.#space.refresh()
      const found = this.#space.get(key)
      if (found === undefined) callback(new Error(`the space has no ${key}`), false)
      else callback(null, JSON.parse(found))
    } catch (error) {
      callback(error, false)
    }
  }
}

module.exports = { Backend }
