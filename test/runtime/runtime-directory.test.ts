import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { afterEach, beforeEach, test } from 'node:test'
import { runtimeDirectory } from '../../src/runtime/index.ts'

let base = ''

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'aether-test-'))
  process.env['AETHER_RUNTIME_DIRECTORY'] = join(base, 'run')
})

afterEach(() => {
  rmSync(base, { recursive: true, force: true })
})

test('the directory and its part are made, private to the user', () => {
  const path = runtimeDirectory('spaces')
  assert.equal(path, join(base, 'run', 'spaces'))
  assert.equal(statSync(path).mode & 0o777, 0o700)
  assert.equal(statSync(join(base, 'run')).mode & 0o777, 0o700)
  assert.equal(runtimeDirectory('spaces'), path)
})

test('a directory open to others is refused with the command that closes it', () => {
  mkdirSync(join(base, 'run'))
  chmodSync(join(base, 'run'), 0o755)
  assert.throws(() => runtimeDirectory('spaces'), { code: 'ERR_AETHER_FORBIDDEN', message: /chmod 700 .*run/ })
})

test('a part that was made open to others is refused too', () => {
  mkdirSync(join(base, 'run'), { mode: 0o700 })
  mkdirSync(join(base, 'run', 'spaces'))
  chmodSync(join(base, 'run', 'spaces'), 0o777)
  assert.throws(() => runtimeDirectory('spaces'), { code: 'ERR_AETHER_FORBIDDEN', path: join(base, 'run', 'spaces') })
})

test('a symbolic link is refused, wherever it leads', () => {
  mkdirSync(join(base, 'real'), { mode: 0o700 })
  symlinkSync(join(base, 'real'), join(base, 'run'))
  assert.throws(() => runtimeDirectory('spaces'), { code: 'ERR_AETHER_FORBIDDEN', message: /symbolic link/ })
})

test('a file in its place is refused', () => {
  writeFileSync(join(base, 'run'), '')
  assert.throws(() => runtimeDirectory('spaces'), { code: 'ERR_AETHER_FORBIDDEN', message: /not a directory/ })
})

test('a place that cannot be made names the variable that sets another', () => {
  process.env['AETHER_RUNTIME_DIRECTORY'] = join(base, 'no', 'such', 'parent')
  assert.throws(() => runtimeDirectory('spaces'), {
    code: 'ERR_AETHER_FORBIDDEN',
    message: /set AETHER_RUNTIME_DIRECTORY/,
  })
})

test('a relative path is refused: processes in other directories would not meet', () => {
  process.env['AETHER_RUNTIME_DIRECTORY'] = 'relative'
  assert.throws(() => runtimeDirectory('spaces'), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
})

test('another user is refused, naming whose directory it is', { skip: notRoot() }, () => {
  runtimeDirectory('spaces')
  chmodSync(base, 0o755)
  const module = new URL('../../src/public/index.js', import.meta.url).href
  // Imported first: the checkout itself may be in a directory that others cannot read.
  const program = `
    const { open } = await import(${JSON.stringify(module)})
    process.setgroups([]); process.setgid(65534); process.setuid(65534)
    await open('shop').catch((error) => console.log(error.code, error.message))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  assert.match(stdout, /^ERR_AETHER_FORBIDDEN .*belongs to user 0.*you are 65534/, stderr)
})

function notRoot(): string | false {
  return process.geteuid?.() === 0 ? false : 'needs root, to become another user'
}
