import assert from 'node:assert/strict'
import { chownSync, fstatSync, mkdirSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'
import { afterEach, test } from 'node:test'
import { rendezvousPath } from '../../src/cluster/enter.ts'
import { Membership } from '../../src/cluster/index.ts'
import { startTimeOf } from '../../src/cluster/process-identity.ts'
import { RendezvousFile } from '../../src/cluster/rendezvous-file.ts'
import { open } from '../../src/public/index.ts'
import { RemoteMember, rendezvousFiles, useRuntimeDirectory } from './support.ts'

const directory = useRuntimeDirectory()
const path = rendezvousPath('shop')

afterEach(() => rmSync(path, { recursive: true, force: true }))

/** A record of this process and start time, pointing to `descriptor`. */
function forge(slot: number, changes: Partial<{ processId: number; startTime: number; descriptor: number }>): void {
  const file = new RendezvousFile(path)
  const { ino } = fstatSync(changes.descriptor ?? 0)
  const record = { processId: process.pid, startTime: startTimeOf(process.pid) ?? 0, descriptor: 0, ...changes }
  file.write(slot, { ...record, inode: ino, nonce: '0'.repeat(32) })
  file.close()
}

async function enterAlone(): Promise<void> {
  await using space = await open('shop')
  assert.equal(space.members().length, 1)
  assert.equal(space.self.epoch, 1)
}

test('a file whose members are all dead is taken over, and removed by the last who leaves', async () => {
  {
    await using remote = new RemoteMember()
    await remote.call('open', 'shop')
    await remote.kill()
  }
  assert.equal(rendezvousFiles(directory).length, 1)
  await enterAlone()
  assert.deepEqual(rendezvousFiles(directory), [])
})

test('a record whose process number was given to another process is not followed', async () => {
  forge(0, { startTime: 1 })
  await enterAlone()
})

test('a record of a live process whose descriptor is something else by now is not followed', async () => {
  forge(0, { descriptor: openSync('/dev/null', 'r') })
  forge(1, { descriptor: 0 })
  await enterAlone()
})

test('a file of garbage is taken over', async () => {
  writeFileSync(path, Buffer.alloc(5000, 0xa5), { mode: 0o600 })
  await enterAlone()
  writeFileSync(path, `member 1 2 3 4 ${'0'.repeat(32)} 00000000\n`.repeat(100), { mode: 0o600 })
  await enterAlone()
})

test('a damaged record harms no other: who is in the space is still found', async () => {
  await using first = await open('shop')
  await using second = await open('shop')
  const bytes = readFileSync(path)
  bytes.fill(0xff, 128 * (first.self.slot + 1), 128 * (first.self.slot + 1) + 40)
  writeFileSync(path, bytes)
  await using third = await open('shop')
  assert.deepEqual(
    third.members().map((member) => member.epoch),
    [1, 2, 3],
  )
  assert.equal(second.members().length, 3)
})

test('a space made by another version is an error that says so', async () => {
  await using space = await open('shop')
  const membership = await Membership.enter('shop')
  const words = new Int32Array(membership.arena.control, 0, 2)
  words[1] = 99
  await assert.rejects(open('shop'), { code: 'ERR_AETHER_SPACE_VERSION', message: /another version/ })
  words[1] = 1
  await membership.close()
  assert.equal(space.members().length, 1)
})

test('a symbolic link or a directory in place of the file is refused', async () => {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync('/etc/passwd', path)
  await assert.rejects(open('shop'), { code: 'ERR_AETHER_FORBIDDEN', message: /symbolic link/ })
  rmSync(path)
  mkdirSync(path)
  await assert.rejects(open('shop'), { code: 'ERR_AETHER_FORBIDDEN' })
})

test("another user's file is refused", {
  skip: process.geteuid?.() === 0 ? false : 'needs root, to give a file away',
}, async () => {
  writeFileSync(path, '', { mode: 0o600 })
  chownSync(path, 65_534, 65_534)
  await assert.rejects(open('shop'), {
    code: 'ERR_AETHER_FORBIDDEN',
    path,
    message: /is not a regular file that you own/,
  })
})

test('the check sum guards every digit of a record', () => {
  forge(0, {})
  const file = new RendezvousFile(path)
  assert.equal(file.records().length, 1)
  const text = readFileSync(path, 'latin1')
  const digit = text.indexOf(String(process.pid))
  writeFileSync(path, `${text.slice(0, digit)}${text[digit] === '1' ? '2' : '1'}${text.slice(digit + 1)}`, 'latin1')
  assert.equal(file.records().length, 0)
  file.close()
})
