import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { root, SeededTree } from './checkout.ts'

const attempts = `
  const { open, join, UnsupportedError } = await import('aether-dsm')
  const { openDevice } = await import('aether-dsm/verbs')
  for (const path of ['profiling', 'testing']) await import('aether-dsm/' + path)
  const attempts = [() => open('shop'), () => join({ rank: 0, size: 1, rendezvous: 'local:here' }), () => openDevice('shm0')]
  for (const attempt of attempts) {
    try {
      await attempt()
      console.log('it opened')
    } catch (error) {
      console.log(error instanceof UnsupportedError || error.cause instanceof UnsupportedError, error.code, '|', error.message)
    }
  }`

interface Outcome {
  readonly stdout: string
  readonly stderr: string
}

/** Each attempt gave one line, which is one sentence that matches. */
function assertRefused({ stdout, stderr }: Outcome, sentence: string): void {
  assert.equal(stderr, '')
  const lines = stdout.trimEnd().split('\n')
  assert.equal(lines.length, 3, stdout)
  for (const line of lines) assert.match(line, new RegExp(`^true ERR_AETHER_UNSUPPORTED \\| [^\\n]*${sentence}`))
}

/** Run the attempts in a Node.js that pretends. */
function pretend(pretence: string): Outcome {
  const flags = ['--import', `data:text/javascript,${pretence}`, '--input-type=module', '-e', attempts]
  return spawnSync(process.execPath, flags, { cwd: root, encoding: 'utf8' })
}

for (const platform of ['darwin', 'win32'])
  test(`on ${platform} everything can be imported, and what needs Linux says so in one sentence`, () => {
    const pretence = `Object.defineProperty(process, 'platform', { value: '${platform}' })`
    assertRefused(pretend(pretence), `Linux[^\\n]*${platform}`)
  })

const runtimes = [
  { key: 'bun', name: 'Bun', flags: [] },
  { key: 'deno', name: 'Deno', flags: ['run', '--allow-all'] },
]
for (const { key, name, flags } of runtimes) {
  test(`under ${name} everything can be imported, and what needs Node.js says so in one sentence`, () => {
    const versions = `{ ...process.versions, ${key}: '9.8.7' }`
    const outcome = pretend(`Object.defineProperty(process, 'versions', { value: ${versions} })`)
    assertRefused(outcome, `needs Node\\.js and this is ${name} 9\\.8\\.7,`)
  })

  const installed = spawnSync(key, ['--version']).status === 0
  const skip = installed ? false : `${key} is not on PATH`
  test(`the real ${name} says the same`, { skip }, () => {
    using tree = new SeededTree({
      'user/package.json': '{ "private": true }',
      'user/attempts.mjs': attempts,
      'user/node_modules/.keep': '',
    })
    symlinkSync(root, join(tree.path, 'user/node_modules/aether-dsm'))
    const outcome = spawnSync(key, [...flags, 'attempts.mjs'], { cwd: join(tree.path, 'user'), encoding: 'utf8' })
    assertRefused(outcome, `needs Node\\.js and this is ${name} \\d`)
  })
}
