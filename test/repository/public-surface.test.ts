import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { root } from './checkout.ts'
import { entrySources, type PublicSurface, publicSurface } from './public-surface.ts'

const snapshotPath = join(root, 'test/repository/public-surface.json')

test('the public surface is the one that was agreed on', (t) => {
  const surface = publicSurface(root)
  if (process.env['AETHER_UPDATE_SURFACE'] === '1') {
    writeFileSync(snapshotPath, `${JSON.stringify(surface, null, 2)}\n`)
    t.diagnostic(`wrote ${snapshotPath}`)
  }
  const agreed = JSON.parse(readFileSync(snapshotPath, 'utf8')) as PublicSurface
  assert.deepEqual(
    surface,
    agreed,
    'Names were added, removed or changed. If that is meant: AETHER_UPDATE_SURFACE=1 npm test public-surface, and commit the difference',
  )
})

test('every export path loads, and exports at run time the values that its types promise', async () => {
  const agreed = JSON.parse(readFileSync(snapshotPath, 'utf8')) as PublicSurface
  assert.deepEqual([...entrySources(root).keys()].sort(), Object.keys(agreed).sort())
  for (const [path, names] of Object.entries(agreed)) {
    const module = (await import(path.replace(/^\./, 'aether-dsm'))) as Readonly<Record<string, unknown>>
    const values = Object.keys(names).filter((name) => /^(class|function|const)/.test(names[name] ?? ''))
    assert.deepEqual(Object.keys(module).sort(), values.sort(), path)
  }
})
