import { readFileSync } from 'node:fs'

/** The version of this package, from its package.json two folders above the compiled sources. */
export function readVersion(): string {
  const file = new URL('../../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
