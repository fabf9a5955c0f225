'use strict'
// Keys and values: what they are in JavaScript, and what they are for the native half, which takes strings
// and Uint8Arrays and gives strings or Buffers.

const same = (part) => part

const CODECS = {
  text: { isRaw: false, encode: same, decode: same },
  buffer: { isRaw: true, encode: same, decode: same },
}

/** The codec of this name; or one of the user's, which decodes Buffers. */
function codec(given = 'text') {
  if (typeof given === 'string' && Object.hasOwn(CODECS, given)) return CODECS[given]
  if (typeof given?.encode === 'function' && typeof given.decode === 'function') {
    return { isRaw: true, encode: (part) => given.encode(part), decode: (bytes) => given.decode(bytes) }
  }
  throw new TypeError("a codec is 'text', 'buffer', or an object with the functions encode and decode")
}

module.exports = { codec }
