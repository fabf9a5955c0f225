// Where tests write, and where the repository is.

import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'

/**
 * The repository's, which `cargo xtask test node` names: the suite runs on a copy beside the packed package.
 */
export const root = process.env.HAMMERSPACE_ROOT

/** A directory that is removed when the test ends. */
export function scratch(context) {
  const path = fs.mkdtempSync(join(os.tmpdir(), 'hammerspace-node-'))
  context.after(() => fs.rmSync(path, { recursive: true, force: true }))
  return path
}
