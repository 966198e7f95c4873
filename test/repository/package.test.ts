import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import { root } from './checkout.ts'
import { packedFiles } from './packed-files.ts'

interface PackageFile {
  readonly version: string
  readonly type: string
  readonly license: string
  readonly engines: Readonly<Record<string, string>>
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
}

const description = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PackageFile

test('the package carries all that a user needs and nothing that only a developer needs', () => {
  const files = packedFiles()
  for (const name of [
    'native/build.mjs',
    'dist/native/sources.json.br',
    'package.json',
    'LICENSE',
    'README.md',
    'CITATION.cff',
    'dist/web/index.html',
    'dist/web/main.js',
  ])
    assert.ok(files.includes(name), name)
  const foreign = files.filter(
    (path) =>
      !/^(bin\/|dist\/(native|package|web)\/|docs\/[^/]+\.md$|docs\/(agreement|protocols)\/|native\/build\.mjs$|prebuilds\/linux-|package\.json$|examples\/|LICENSE$|README\.md$|CITATION\.cff$)/.test(
        path,
      ),
  )
  assert.deepEqual(foreign, [])
  assert.deepEqual(
    files.filter((path) => /\.test\.|^native\/build\//.test(path)),
    [],
  )
})

test('the sources of the addon are packed to build from, each as it is but for lines of comments, which are empty', () => {
  const names = readdirSync(join(root, 'native')).filter((name) => /\.(cc|h)$/.test(name))
  assert.ok(names.length > 0)
  const packed = brotliDecompressSync(readFileSync(join(root, 'dist/native/sources.json.br'))).toString()
  const texts = names.sort().map((name) => [name, readFileSync(join(root, 'native', name), 'utf8')] as const)
  const lines = (text: string): string[] => text.split('\n').map((line) => (line.trim().startsWith('//') ? '' : line))
  assert.deepEqual(
    Object.entries(JSON.parse(packed) as Record<string, string>).map(([name, text]) => [name, text.split('\n')]),
    texts.map(([name, text]) => [name, lines(text)]),
  )
})

test('what package.json points to is there', () => {
  const targets = Object.values(description.exports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target).map((path) => path.replace('*', 'cli')),
  )
  for (const path of [...targets, ...Object.values(description.bin)]) assert.ok(existsSync(join(root, path)), path)
})

test('packing builds what is packed, and what is loaded where there is no compiler', () => {
  assert.equal(description.scripts['prepack'], 'npm run --silent build && node native/build.mjs --prebuilt')
})

test('no script runs where the package is installed, so that npm has nothing to warn about', () => {
  // npm warns about `prepare` too if the package comes from a file.
  // `npm ci` also runs `postprepare`, and only in the checkout.
  for (const name of ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare'])
    assert.equal(description.scripts[name], undefined, name)
  assert.equal(description.scripts['postprepare'], 'npm run build')
})

test('the commands start with the line that makes them programs', () => {
  for (const path of Object.values(description.bin))
    assert.match(readFileSync(join(root, path), 'utf8'), /^#!\/usr\/bin\/env node\n/, path)
})

test('engines, licence, module type and pinned dependencies are as documented', () => {
  assert.equal(description.engines['node'], '>=20.19')
  assert.equal(description.license, 'MIT')
  assert.equal(description.type, 'module')
  for (const [name, version] of Object.entries(description.dependencies)) assert.match(version, /^\d+\.\d+\.\d+$/, name)
})

test('the citation names this version and licence', () => {
  const citation = readFileSync(join(root, 'CITATION.cff'), 'utf8')
  assert.match(citation, /^cff-version: 1\.2\.0$/m)
  for (const key of ['message', 'title', 'authors']) assert.match(citation, new RegExp(`^${key}:`, 'm'))
  assert.match(citation, new RegExp(`^version: ${description.version.replaceAll('.', '\\.')}$`, 'm'))
  assert.match(citation, new RegExp(`^license: ${description.license}$`, 'm'))
})

test('the lock file names the packages of every platform, so that npm ci works on each', () => {
  interface Locked {
    readonly optionalDependencies?: Readonly<Record<string, string>>
  }
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> }
  const wanted = Object.values(lock.packages).flatMap((each) => Object.keys(each.optionalDependencies ?? {}))
  assert.ok(wanted.length > 0)
  const missing = wanted.filter((name) => lock.packages[`node_modules/${name}`] === undefined)
  assert.deepEqual(missing, [], 'npm install drops what its registry does not have; put these back')
})
