import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { native } from '../../src/native/index.ts'
import { startChild } from './elsewhere.ts'

/** A file in a folder of its own, and its descriptor. */
function lockable() {
  const folder = mkdtempSync(join(tmpdir(), 'aether-lock-'))
  const path = join(folder, 'lock')
  const descriptor = openSync(path, 'w')
  return {
    path,
    descriptor,
    [Symbol.dispose]() {
      closeSync(descriptor)
      rmSync(folder, { recursive: true })
    },
  }
}

/** Takes the lock, says so, and keeps it. */
const holder = (path: string) =>
  startChild(({ aether: { native }, fs }, file) => {
    const taken = native.lockFile(fs.openSync(file, 'r+'), true)
    console.log(JSON.stringify(taken))
    setInterval(() => {}, 1000)
  }, path)

test('a lock that another process holds is not taken, and is once it is given back', () => {
  using file = lockable()
  const again = openSync(file.path, 'r+')
  assert.equal(native.lockFile(file.descriptor, false), true)
  assert.equal(native.lockFile(file.descriptor, false), true, 'the same opening holds it already')
  assert.equal(native.lockFile(again, false), false)
  native.unlockFile(file.descriptor)
  assert.equal(native.lockFile(again, false), true)
  closeSync(again)
  assert.equal(native.lockFile(file.descriptor, true), true, 'closing gives it back')
})

test('SIGKILL of the holder gives the lock back', async () => {
  using file = lockable()
  await using child = holder(file.path)
  assert.equal(await child.message<boolean>(), true)
  assert.equal(native.lockFile(file.descriptor, false), false)
  child.process.kill('SIGKILL')
  await child.ended()
  assert.equal(native.lockFile(file.descriptor, false), true)
})

test('who waits for a lock gets it when the holder dies', async () => {
  using file = lockable()
  await using first = holder(file.path)
  assert.equal(await first.message<boolean>(), true)
  await using second = holder(file.path)
  const taken = second.message<boolean>()
  first.process.kill('SIGKILL')
  assert.equal(await taken, true)
  assert.equal(native.lockFile(file.descriptor, false), false)
})

test('a closed descriptor cannot be locked', () => {
  assert.throws(() => native.lockFile(1_000_000, false), /flock: EBADF/)
  assert.throws(() => native.unlockFile(1_000_000), /flock: EBADF/)
})
