import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { root, SeededTree } from './checkout.ts'

const isPresent = (program: string) => spawnSync(program, ['--version']).status === 0
const absent = ['x86_64-linux-gnu-g++', 'aarch64-linux-gnu-g++'].filter((name) => !isPresent(name))
const skip = absent.length === 0 ? false : `not installed: ${absent.join(', ')}`

/** ELF's e_machine, at offset 18. */
const MACHINES = { x64: 62, arm64: 183 } as const

test('a release has an addon for x64 and one for arm64, which bring their own libstdc++', { skip }, () => {
  const built = spawnSync(process.execPath, ['native/build.mjs', '--release'], { cwd: root, encoding: 'utf8' })
  assert.equal(built.status, 0, built.stderr)
  for (const [arch, machine] of Object.entries(MACHINES)) {
    const addon = readFileSync(join(root, 'prebuilds', `linux-${arch}`, 'aether.node'))
    assert.equal(addon.readUInt16LE(18), machine, arch)
    const text = addon.toString('latin1')
    assert.ok(!text.includes('libstdc++.so'), arch)
    assert.ok(text.includes('ibv_') && text.includes('rdma_'), `RDMA is compiled in for ${arch}`)
  }
  using tree = new SeededTree({
    'installed/package.json': '{ "private": true }',
    'installed/main.mjs': [
      "import { open } from 'aether-dsm'",
      "await (await open('prebuilt')).close()",
      "console.log('opened')",
    ].join('\n'),
  })
  const installed = join(tree.path, 'installed')
  for (const path of ['package.json', 'dist/package', 'native/build.mjs', 'prebuilds'])
    cpSync(join(root, path), join(installed, 'node_modules/aether-dsm', path), { recursive: true })
  const environment = { ...process.env, PATH: '' }
  const opened = spawnSync(process.execPath, ['main.mjs'], { cwd: installed, encoding: 'utf8', env: environment })
  assert.equal(opened.stdout, 'opened\n', opened.stderr)
})

test('without a compiler for one of them there is no release, and the Debian package is named', () => {
  const built = spawnSync(process.execPath, ['native/build.mjs', '--release'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, PATH: '' },
  })
  assert.equal(built.status, 1)
  assert.match(
    built.stderr,
    /^aether-dsm: a release has the whole addon for x64 and arm64, .*apt-get install .*g\+\+-aarch64-linux-gnu/,
  )
  assert.equal(built.stderr.trim().split('\n').length, 1)
})
