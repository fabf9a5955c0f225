'use strict'

const { Snapshot, Space } = require('./space.cjs')
const { Writer } = require('./writer.cjs')

module.exports = { Snapshot, Space, Writer }
