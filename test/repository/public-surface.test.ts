import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { root } from './checkout.ts'
import { codeBlocks, markdownFiles, readDocument } from './markdown.ts'
import { doors, type PublicSurface, publicSurface } from './public-surface.ts'

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
  const all = doors(root)
  assert.deepEqual(all.map(({ path }) => path).sort(), Object.keys(agreed).sort())
  for (const { path, bundle } of all) {
    const names = agreed[path]!
    const module = (await import(pathToFileURL(bundle).href)) as Readonly<Record<string, unknown>>
    const values = Object.keys(names).filter((name) => /^(class|function|const)/.test(names[name] ?? ''))
    assert.deepEqual(Object.keys(module).sort(), values.sort(), path)
  }
})

/** The documents that users read, and the programs in them and in examples/, as one text. */
function shown(): string {
  const pages = markdownFiles().filter((path) => path === 'README.md' || path.startsWith('docs/'))
  const examples = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readDocument(`examples/${path}`))
  const code = pages
    .map(readDocument)
    .flatMap((text) => [
      ...codeBlocks(text).map((block) => block.text),
      ...[...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? ''),
    ])
  return [...code, ...examples].join('\n')
}

test('every public name stands in a guide or an example, and there are at most 350, and 30 of each later path', () => {
  const agreed = JSON.parse(readFileSync(snapshotPath, 'utf8')) as PublicSurface
  const words = new Set(shown().match(/\w+/g))
  const names = Object.entries(agreed).flatMap(([path, each]) => Object.keys(each).map((name) => `${path}: ${name}`))
  const later = ['./arrays', './consensus', './index-service'].map((path) =>
    names.filter((name) => name.startsWith(`${path}: `)),
  )
  for (const each of later) assert.ok(each.length <= 30, `${each.length} names: ${each[0]}, …`)
  const others = names.length - later.flat().length
  assert.ok(others <= 350, `${others} names`)
  assert.deepEqual(
    names.filter((name) => !words.has(name.slice(name.indexOf(' ') + 1))),
    [],
  )
})
