import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { native } from '../../src/native/index.ts'

/** A copy of the addon that lacks one function, as one that was built before that was written. */
export function staleAddon(lacking: string): Disposable & { readonly path: string } {
  native.monotonicNs()
  const own = /\/.*\/aether\.node$/m.exec(readFileSync('/proc/self/maps', 'utf8'))?.[0]
  if (own === undefined) throw new Error('no addon is loaded')
  const text = readFileSync(own, 'latin1')
  if (!text.includes(`${lacking}\0`)) throw new Error(`the addon has no ${lacking}`)
  const folder = mkdtempSync(join(tmpdir(), 'aether-stale-'))
  const path = join(folder, 'aether.node')
  writeFileSync(path, text.replaceAll(`${lacking}\0`, `${lacking.slice(0, -1)}_\0`), 'latin1')
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}
