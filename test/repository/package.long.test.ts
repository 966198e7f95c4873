import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { root, SeededTree } from './checkout.ts'
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
