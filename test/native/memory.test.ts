import assert from 'node:assert/strict'
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import test from 'node:test'
import { ArgumentError, native, SystemError } from '../../src/native/index.ts'
import { startChild } from './elsewhere.ts'
import { Memory, pageBytes } from './resources.ts'

const isSystemError = (syscall: string, errnoName: string) => (error: unknown) => {
  assert.ok(error instanceof SystemError, String(error))
  assert.equal(error.syscall, syscall)
  assert.equal(error.errnoName, errnoName)
  assert.equal(error.code, 'ERR_AETHER_SYSTEM')
  return true
}

test('a new memory object has its length, no pages, and belongs to this user', () => {
  using memory = new Memory(16 * pageBytes)
  const description = native.describeMemory(memory.descriptor)
  assert.equal(description.lengthBytes, 16 * pageBytes)
  assert.equal(description.allocatedBytes, 0)
  assert.equal(description.pageBytes, pageBytes)
  assert.equal(description.userId, process.getuid?.())
})

test('two memory objects differ by inode, a duplicated descriptor does not', () => {
  using one = new Memory(pageBytes)
  using other = new Memory(pageBytes)
  const copy = native.duplicateDescriptor(one.descriptor)
  try {
    assert.notEqual(native.describeMemory(one.descriptor).inode, native.describeMemory(other.descriptor).inode)
    assert.deepEqual(native.describeMemory(copy), native.describeMemory(one.descriptor))
  } finally {
    native.closeDescriptor(copy)
  }
})

test('descriptors are closed on exec', async () => {
  using memory = new Memory(pageBytes)
  const copy = native.duplicateDescriptor(memory.descriptor)
  const [readEnd, writeEnd] = native.createPipe()
  const pidfd = native.openProcess(process.pid)
  const watcher = native.createWatcher(() => {})
  watcher.add(1, readEnd)
  await using child = startChild(({ fs }) => {
    const targets = fs.readdirSync('/proc/self/fd').map((name) => {
      try {
        return fs.readlinkSync(`/proc/self/fd/${name}`)
      } catch {
        return 'closed since'
      }
    })
    console.log(JSON.stringify(targets))
  }, undefined)
  const pipeName = readFileSync(`/proc/self/fdinfo/${readEnd}`, 'utf8').match(/ino:\s*(\d+)/)?.[1] ?? 'no inode'
  const targets = await child.message<string[]>()
  watcher.close()
  for (const descriptor of [copy, readEnd, writeEnd, pidfd]) native.closeDescriptor(descriptor)
  assert.deepEqual(
    targets.filter((target) => target.includes('aether-test') || target === `pipe:[${pipeName}]`),
    [],
  )
})

test('memory grows and keeps what it held', () => {
  using memory = new Memory(pageBytes)
  writeSync(memory.descriptor, 'kept', 0)
  native.resizeMemory(memory.descriptor, 4 * pageBytes)
  const bytes = new Uint8Array(memory.map(0, 4 * pageBytes))
  assert.equal(Buffer.from(bytes.subarray(0, 4)).toString(), 'kept')
  assert.equal(bytes[3 * pageBytes], 0)
  native.unmapMemory(bytes.buffer)
})

test('reserving takes the space now, releasing gives it back and leaves zeros', () => {
  using memory = new Memory(8 * pageBytes)
  const bytes = new Uint8Array(memory.map(0, 8 * pageBytes))
  native.reserveMemory(memory.descriptor, 2 * pageBytes, 3 * pageBytes)
  assert.equal(native.describeMemory(memory.descriptor).allocatedBytes, 3 * pageBytes)
  bytes.fill(7, 2 * pageBytes, 5 * pageBytes)
  native.releaseMemory(memory.descriptor, 3 * pageBytes, pageBytes)
  assert.equal(native.describeMemory(memory.descriptor).allocatedBytes, 2 * pageBytes)
  assert.equal(bytes[2 * pageBytes], 7)
  assert.equal(bytes[3 * pageBytes], 0)
  assert.equal(bytes[4 * pageBytes], 7)
  assert.equal(native.describeMemory(memory.descriptor).lengthBytes, 8 * pageBytes, 'neither changes the length')
  native.unmapMemory(bytes.buffer)
})

test('space that is not there is refused when it is reserved, not when it is touched', (context) => {
  const hugePageBytes = 2 * 1024 * 1024
  if (!/HugePages_Free:\s+0$/m.test(readFileSync('/proc/meminfo', 'utf8'))) {
    context.skip('huge pages are set aside on this machine, so that taking one may succeed')
    return
  }
  const descriptor = native.createMemory('aether-test', hugePageBytes, hugePageBytes)
  try {
    assert.equal(native.describeMemory(descriptor).pageBytes, hugePageBytes)
    assert.throws(
      () => native.reserveMemory(descriptor, 0, hugePageBytes),
      (error: unknown) => {
        assert.ok(error instanceof SystemError)
        assert.match(error.errnoName, /^(ENOMEM|ENOSPC)$/)
        return true
      },
    )
    assert.throws(() => native.mapMemory(descriptor, 0, hugePageBytes, 0), isSystemError('mmap', 'ENOMEM'))
    assert.throws(() => native.mapMemory(descriptor, 0, pageBytes, 0), ArgumentError)
  } finally {
    native.closeDescriptor(descriptor)
  }
})

test('more than the machine has is refused: the kernel alone would kill a process first', () => {
  using memory = new Memory(2 ** 50)
  assert.throws(() => native.reserveMemory(memory.descriptor, 0, 2 ** 50), isSystemError('fallocate', 'ENOMEM'))
  assert.equal(native.describeMemory(memory.descriptor).allocatedBytes, 0, 'nothing is taken then')
})

test('a closed descriptor gives EBADF, and says so', () => {
  const descriptor = native.createMemory('aether-test', pageBytes, 0)
  native.closeDescriptor(descriptor)
  assert.throws(() => native.describeMemory(descriptor), isSystemError('fstat', 'EBADF'))
  assert.throws(() => native.reserveMemory(descriptor, 0, pageBytes), isSystemError('fallocate', 'EBADF'))
  assert.throws(() => native.resizeMemory(descriptor, pageBytes), isSystemError('ftruncate', 'EBADF'))
  assert.throws(() => native.closeDescriptor(descriptor), /EBADF.*the descriptor is closed/)
  assert.throws(() => native.duplicateDescriptor(descriptor), isSystemError('fcntl', 'EBADF'))
})

test('the kinds of huge pages are 2 MiB and 1 GiB', () => {
  assert.throws(() => native.createMemory('aether-test', 4096, 4096), ArgumentError)
  assert.throws(() => native.createMemory('a name with\0a zero byte', 4096, 0), ArgumentError)
  assert.throws(() => native.createMemory('x'.repeat(300), 4096, 0), ArgumentError)
})

test('another process opens the object through /proc', async () => {
  using memory = new Memory(pageBytes)
  const words = new Int32Array(memory.map(0, pageBytes))
  words[0] = 41
  await using child = startChild(({ aether: { native }, fs }, path) => {
    const descriptor = fs.openSync(path, 'r+')
    const theirs = new Int32Array(native.mapMemory(descriptor, 0, 4096, 0))
    Atomics.add(theirs, 0, 1)
  }, `/proc/${process.pid}/fd/${memory.descriptor}`)
  assert.equal((await child.ended()).code, 0)
  assert.equal(Atomics.load(words, 0), 42)
  native.unmapMemory(words.buffer)
})

test('what has been resized elsewhere is described as it is', () => {
  using memory = new Memory(pageBytes)
  const again = openSync(`/proc/self/fd/${memory.descriptor}`, 'r+')
  ftruncateSync(again, 3 * pageBytes)
  closeSync(again)
  assert.equal(native.describeMemory(memory.descriptor).lengthBytes, 3 * pageBytes)
})
