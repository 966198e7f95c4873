import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../native/index.ts'

/** The version of this package, from its package.json. */
export function readVersion(): string {
  const file = join(packageRoot(), 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
