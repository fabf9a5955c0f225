'use strict'
// How a space is opened: an object of the user's as codecs, as words for the native half, and as what
// JavaScript itself waits for.

const { codec } = require('./codec.cjs')

/** One minute, in milliseconds. */
const UPDATE_TIMEOUT = 60_000

function parse({ keys, values, updateTimeout = UPDATE_TIMEOUT, ...rest } = {}) {
  if (!(updateTimeout >= 0)) throw new TypeError('updateTimeout is a number of milliseconds')
  const given = Object.entries(rest).filter(([, value]) => value !== undefined)
  const words = given.map(([name, value]) => `${name}=${value}`.replace('=Infinity', '=inf'))
  return { keys: codec(keys), values: codec(values), updateTimeout, words }
}

module.exports = { parse }
