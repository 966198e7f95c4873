import { existsSync, readFileSync } from 'node:fs'
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

/** The version of this package, from its package.json. */
export function packageVersion(): string {
  const file = join(packageRoot(), 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
