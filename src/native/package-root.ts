import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The folder of this package: the one that holds the sources of the addon. Compiled modules lie at several depths below
 * it, and bundles of them at another.
 */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'native', 'build.mjs')) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}
