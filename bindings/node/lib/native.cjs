'use strict'
// The native half: a library for this processor, which lies in the package.

const { join } = require('node:path')

const file = join(__dirname, '..', 'native', `${process.platform}-${process.arch}.node`)

function load() {
  try {
    return require(file)
  } catch (cause) {
    const message = `hammerspace has no native library that works here: ${file}; it is made for Linux with the GNU C library`
    throw new Error(message, { cause })
  }
}

module.exports = load()
