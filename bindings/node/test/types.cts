// The same from CommonJS.
import hammerspace = require('hammerspace')

const space: hammerspace.Space = hammerspace.Space.open('words')
export = space
