import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { root, SeededTree } from './checkout.ts'

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

/** The paths that `npm publish` would send. */
function packedFiles(): string[] {
  const result = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' })
  assert.equal(result.status, 0, result.stderr)
  const [packed] = JSON.parse(result.stdout) as [{ files: readonly { path: string }[] }]
  return packed.files.map((file) => file.path).sort()
}

test('the package carries all that a user needs and nothing that only a developer needs', () => {
  const files = packedFiles()
  const native = readdirSync(join(root, 'native')).filter((name) => /\.(cc|h|mjs)$/.test(name))
  assert.ok(native.length > 0)
  for (const name of native) assert.ok(files.includes(`native/${name}`), `native/${name} is packed, to build from`)
  for (const name of [
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
      !/^(bin\/|dist\/(package|web)\/|docs\/[^/]+\.md$|docs\/protocols\/|native\/|prebuilds\/linux-|package\.json$|examples\/|LICENSE$|README\.md$|CONTRIBUTING\.md$|CITATION\.cff$)/.test(
        path,
      ),
  )
  assert.deepEqual(foreign, [])
  assert.deepEqual(
    files.filter((path) => /\.test\.|^native\/build\//.test(path)),
    [],
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

test('what is packed builds from its own sources and works where it is installed', () => {
  using tree = new SeededTree({
    'installed/main.mjs': [
      "import { open } from 'aether-dsm'",
      "const space = await open('installed')",
      "const region = await space.openRegion('words', { size: 4096 })",
      'console.log(Atomics.add(region.view(Int32Array), 0, 5) + Atomics.load(region.view(Int32Array), 0))',
      'await space.close()',
    ].join('\n'),
    'installed/package.json': '{ "private": true }',
    'installed/node_modules/aether-dsm/.keep': '',
    // Without optimizing it takes half the time, and needs the same files.
    compiler: `#!/bin/sh\nexec ${process.env['CXX'] ?? 'c++'} "$@" -O0\n`,
  })
  const target = join(tree.path, 'installed/node_modules/aether-dsm')
  const sources = packedFiles().filter((path) => !path.startsWith('prebuilds/'))
  for (const path of sources) cpSync(join(root, path), join(target, path))
  symlinkSync(join(root, 'node_modules/node-api-headers'), join(tree.path, 'installed/node_modules/node-api-headers'))
  const run = (script: string, environment: NodeJS.ProcessEnv = process.env) =>
    spawnSync(process.execPath, [script], { cwd: join(tree.path, 'installed'), encoding: 'utf8', env: environment })
  const before = run('main.mjs')
  assert.match(before.stderr, /Build it with: node .*native\/build\.mjs/, 'without the addon it says how to build it')
  const build = 'node_modules/aether-dsm/native/build.mjs'
  const uncompiled = run(build, { PATH: '' })
  assert.equal(uncompiled.status, 1)
  assert.match(uncompiled.stderr, /no C\+\+ compiler.*\n.*apt-get install g\+\+/)
  const compiler = join(tree.path, 'compiler')
  chmodSync(compiler, 0o755)
  assert.equal(run(build, { ...process.env, CXX: compiler }).status, 0)
  const after = run('main.mjs')
  assert.equal(after.stdout, '5\n', after.stderr)
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
