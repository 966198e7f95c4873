import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { root, SeededTree } from './checkout.ts'
import { codeBlocks, readDocument } from './markdown.ts'
import { packedFiles } from './packed-files.ts'

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

test('the least TypeScript that README names for each way to use the package compiles its program and every import', () => {
  const readme = readDocument('README.md')
  const named = (pattern: RegExp): string => {
    const version = pattern.exec(readme)?.[1]
    assert.ok(version, `README names the version: ${pattern}`)
    return version
  }
  const least = named(/TypeScript \| (\d+\.\d+) or later/)
  const checked = named(/Before TypeScript (\d+\.\d+), also set `skipLibCheck`/)
  const required = named(/Before (\d+\.\d+), a\s+CommonJS file must use `import\(\)`/)
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: object }
  // The declarations of adapters need those of what they adapt.
  const modules = Object.keys(exports).filter((path) => !/^\.\/(adapters|internal|package\.json)/.test(path))
  const program = codeBlocks(readme).find(({ text }) => text.startsWith('// visits.mjs\n'))!.text
  using tree = new SeededTree({
    'user/visits.mts': program.replace("map('visits')", "map<number>('visits')"),
    'user/using.mts':
      "import { open } from 'aether-dsm'\nawait using space = await open('x')\nconsole.log(space.name)\n",
    'user/all.mts': modules
      .map((path, at) => `export * as m${at} from '${path.replace('.', 'aether-dsm')}'\n`)
      .join(''),
    'user/import.cts': "import('aether-dsm').then(async ({ open }) => (await open('x')).close())\n",
    'user/require.cts': "import { open } from 'aether-dsm'\nopen('x').then((space) => space.close())\n",
    'user/node_modules/.keep': '',
    'compilers/package.json': '{ "private": true }',
  })
  symlinkSync(root, join(tree.path, 'user/node_modules/aether-dsm'))
  const aliases = [...new Set([least, checked, required])].map((version) => `ts${version}@npm:typescript@${version}`)
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
  const compilers = join(tree.path, 'compilers')
  const installed = spawnSync('npm', ['install', ...flags, ...aliases], { cwd: compilers, encoding: 'utf8' })
  assert.equal(installed.status, 0, installed.stderr)
  const everywhere = ['visits.mts', 'using.mts', 'all.mts', 'import.cts']
  for (const [version, skipLibCheck, files] of [
    [least, true, everywhere],
    [checked, false, everywhere],
    [required, true, ['require.cts']],
  ] as const) {
    const compilerOptions = { module: 'NodeNext', types: ['node'], strict: true, noEmit: true, skipLibCheck }
    writeFileSync(join(tree.path, 'user/tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    const compiler = join(compilers, `node_modules/ts${version}/bin/tsc`)
    const compiled = spawnSync(process.execPath, [compiler], { cwd: join(tree.path, 'user'), encoding: 'utf8' })
    assert.equal(compiled.status, 0, `TypeScript ${version}, skipLibCheck ${skipLibCheck}: ${compiled.stdout}`)
  }
})
