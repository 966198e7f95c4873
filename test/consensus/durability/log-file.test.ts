import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import promises, { type FileHandle, open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { mock, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { LogFileOptions } from '../../../src/consensus/durability/log-file.ts'
import { writeSnapshotFile } from '../../../src/consensus/durability/snapshot-file.ts'
import type { ConsensusError } from '../../../src/consensus/errors.ts'
import type { AcceptedEntry } from '../../../src/consensus/replica/cell.ts'
import { foundingConfiguration } from '../../../src/consensus/replica/configuration.ts'
import { Random } from '../../../src/runtime/index.ts'
import { onSmallDisk, smallDisksRefused } from '../../structures/small-disk.ts'
import { countingSyncs, entry, newDirectory, openLog, scratch, shown, whileFailing } from './logs.ts'

const FIRST = '0000000001.log'
const SECOND = '0000000002.log'

/** Of each of them in a segment, behind its head of 16 bytes. */
const ENTRY_BYTES = 48 + entry(1).payload.length

/** Append entries, each array of them with a sync. */
async function written(batches: readonly (readonly AcceptedEntry[])[], options: LogFileOptions = {}) {
  const directory = newDirectory()
  const { log, close } = await openLog(directory, options)
  for (const batch of batches) {
    for (const one of batch) log.append(one)
    await log.sync()
  }
  await close()
  return directory
}

/** What is in a log, in short; the log is closed again. */
async function readIn(directory: string): Promise<string[]> {
  const { close, entries } = await openLog(directory)
  await close()
  return entries.flatMap((one) => shown(one))
}

test('what was synced is there after a restart, and more can be appended', async () => {
  const empty = { ...entry(2 ** 48 - 1), term: 2 ** 32 - 1, payload: new Uint8Array() }
  const directory = await written([[entry(1), entry(2)], [], [empty]])
  assert.deepEqual(await readIn(directory), shown(entry(1), entry(2), empty))
  const { log, close } = await openLog(directory)
  log.append(entry(3))
  await log.sync()
  await close()
  assert.deepEqual(await readIn(directory), shown(entry(1), entry(2), entry(3), empty))
})

test('a later entry replaces an earlier one of the same index, in any segment', async () => {
  for (const segmentBytes of [1, 2 ** 26]) {
    const batches = [[entry(2), entry(1)], [entry(1, 'second', 2), entry(3)], [entry(1, 'third', 3)]]
    const directory = await written(batches, { segmentBytes })
    assert.deepEqual(await readIn(directory), shown(entry(1, 'third', 3), entry(2), entry(3)))
  }
})

test('promises are there after a restart, and no entries', async () => {
  for (const segmentBytes of [1, 2 ** 26]) {
    const directory = newDirectory()
    const first = await openLog(directory, { segmentBytes })
    assert.deepEqual([first.promise, first.decided, first.log.promised], [0, 0, 0])
    first.log.promise(7)
    await first.log.sync()
    first.log.append({ ...entry(5), acceptedIn: 2, decided: 4 })
    first.log.append({ ...entry(6), acceptedIn: 2, decided: 2 ** 48 - 1 })
    first.log.append({ ...entry(7), acceptedIn: 2, decided: 3 })
    await first.log.sync()
    assert.equal(first.log.promised, 7)
    await first.close()
    const second = await openLog(directory, { segmentBytes })
    assert.deepEqual([second.promise, second.decided, second.log.promised], [7, 2 ** 48 - 1, 7])
    assert.deepEqual(
      second.entries.map(({ index }) => index),
      [5, 6, 7],
    )
    second.log.append({ ...entry(8), acceptedIn: 2 ** 32 - 1 })
    await second.log.sync()
    await second.close()
    const third = await openLog(directory)
    assert.equal(third.promise, 2 ** 32 - 1)
    await third.close()
  }
})

test('a segment stays while it holds a promise that nothing else does', async () => {
  const directory = newDirectory()
  const { log, close } = await openLog(directory, { segmentBytes: 1 })
  const numbers = () =>
    readdirSync(directory).flatMap((name) => (name.endsWith('.log') ? [Number.parseInt(name, 10)] : []))
  for (const act of [
    () => log.append(entry(1)),
    () => log.promise(5),
    () => log.append(entry(2)),
    () => log.promise(4),
  ]) {
    act()
    await log.sync()
  }
  assert.deepEqual(numbers(), [1, 2, 3, 4])
  await log.truncateBefore(3, 4)
  assert.deepEqual(numbers(), [2, 3, 4], 'the promise of 5 is only there')
  await close()
  const again = await openLog(directory, { segmentBytes: 1 })
  assert.deepEqual([again.promise, again.isFromStart], [5, false])
  await again.log.truncateBefore(3, 4)
  assert.deepEqual(numbers(), [2, 3, 4], 'that is known after a restart, too')
  await again.log.truncateBefore(3, 5)
  assert.deepEqual(numbers(), [4])
  await again.close()
})

test('a log is removed from its last segment on', async () => {
  const directory = await written([[entry(1)], [entry(2)], [entry(3)]], { segmentBytes: 1 })
  const { log, directory: logDirectory, close } = await openLog(directory)
  const left: number[] = []
  const remove = mock.method(logDirectory, 'remove', async (name: string) => {
    rmSync(join(directory, name))
    left.push(readdirSync(directory).length)
    assert.ok(!readdirSync(directory).some((other) => other !== 'lock' && other > name), name)
  })
  await log.remove()
  remove.mock.restore()
  assert.deepEqual(left, [3, 2, 1])
  assert.deepEqual(readdirSync(directory), ['lock'])
  await close()
})

test('the payload may be used again after append, and calls of sync share their work', async () => {
  const directory = newDirectory()
  const { log, close } = await openLog(directory)
  const payload = Buffer.from('before')
  log.append({ ...entry(1), payload })
  payload.fill(0)
  const syncs = [log.sync(), log.sync()]
  assert.equal(syncs[0], syncs[1])
  await syncs[0]
  log.append(entry(2))
  await Promise.all([log.sync(), log.sync()])
  await close()
  assert.deepEqual(await readIn(directory), shown(entry(1, 'before'), entry(2)))
})

test('a segment that is full is followed by another, and truncation removes those that are not needed', async () => {
  const directory = newDirectory()
  const { log, close } = await openLog(directory, { segmentBytes: 100 })
  for (let index = 1; index <= 20; index += 1) log.append(entry(index))
  await log.sync()
  const files = () => readdirSync(directory).filter((name) => name.endsWith('.log'))
  const before = files()
  assert.ok(before.length > 5, `${before}`)
  for (const name of before) assert.ok(statSync(join(directory, name)).size < 200)
  await log.truncateBefore(1, 2)
  assert.deepEqual(files(), before)
  await log.truncateBefore(11, 2)
  assert.ok(files().length < before.length)
  await close()
  const kept = await readIn(directory)
  assert.deepEqual(kept.slice(-10), shown(...Array.from({ length: 10 }, (_, at) => entry(11 + at))))
  const again = await openLog(directory, { segmentBytes: 100 })
  await again.log.truncateBefore(1000, 2)
  assert.equal(files().length, 1)
  again.log.append(entry(21))
  await again.log.sync()
  await again.close()
  assert.ok((await readIn(directory)).includes(shown(entry(21))[0]!))
})

test('a tail that was cut at any byte is removed, and the entries before it stay', async () => {
  const batches = [[entry(1)], [entry(2), entry(3)]]
  const source = join(await written(batches), FIRST)
  const whole = readFileSync(source)
  for (let length = 0; length <= whole.length; length += 1) {
    const directory = newDirectory()
    writeFileSync(join(directory, FIRST), whole.subarray(0, length))
    const kept = [entry(1), entry(2), entry(3)].slice(0, Math.max(0, Math.floor((length - 16) / ENTRY_BYTES)))
    const { log, close, entries } = await openLog(directory)
    assert.deepEqual(
      entries.map(({ index }) => index),
      kept.map(({ index }) => index),
      `${length} bytes`,
    )
    log.append(entry(9))
    await log.sync()
    await close()
    assert.deepEqual(await readIn(directory), shown(...kept, entry(9)), `${length} bytes`)
  }
})

test('a change of any byte that was on the disk is an error that names file and place; of the last batch, a torn tail', async () => {
  const source = join(await written([[entry(1)], [entry(2), entry(3)], [entry(4), entry(5)]]), FIRST)
  const whole = readFileSync(source)
  const lastBatch = 16 + 3 * ENTRY_BYTES
  for (let at = 0; at < whole.length; at += 1)
    for (const change of [0x01, 0xff]) {
      const directory = newDirectory()
      const file = join(directory, FIRST)
      const bytes = Buffer.from(whole)
      bytes[at]! ^= change
      writeFileSync(file, bytes)
      const start = at < 16 ? 0 : 16 + Math.floor((at - 16) / ENTRY_BYTES) * ENTRY_BYTES
      if (at < lastBatch) {
        await assert.rejects(
          readIn(directory),
          { code: 'ERR_AETHER_CONSENSUS_LOG_DAMAGED', file, offset: start },
          `${at}`,
        )
        assert.ok(readFileSync(file).equals(bytes), 'what is damaged stays as it is')
      } else {
        const kept = start === lastBatch ? [1, 2, 3] : [1, 2, 3, 4]
        assert.deepEqual(await readIn(directory), shown(...kept.map((index) => entry(index))), `byte ${at}`)
      }
    }
})

test('a batch of which a crash wrote only later parts is a torn tail', async () => {
  const directory = await written([[entry(1)], [entry(2), entry(3), entry(4)]])
  const file = join(directory, FIRST)
  const bytes = readFileSync(file)
  bytes.fill(0, 16 + ENTRY_BYTES, 16 + 2 * ENTRY_BYTES)
  writeFileSync(file, bytes)
  assert.deepEqual(await readIn(directory), shown(entry(1)))
  assert.equal(statSync(file).size, 16 + ENTRY_BYTES)
})

test('by `everysec` and `no`, entries are in the file at once, and on the disk later', async () => {
  for (const append of ['everysec', 'no'] as const)
    await countingSyncs(async (syncs) => {
      const directory = newDirectory()
      const { log, close } = await openLog(directory, { append, segmentBytes: 4096 })
      for (let index = 1; index <= 20; index += 1) {
        log.append(entry(index))
        await log.sync()
      }
      assert.equal(syncs(), 0)
      // What a process that is killed now leaves behind.
      const killed = newDirectory()
      copyFileSync(join(directory, FIRST), join(killed, FIRST))
      assert.equal((await readIn(killed)).length, 20)
      if (append === 'everysec') {
        while (syncs() === 0) await sleep(20)
        await sleep(1200)
        assert.equal(syncs(), 1, 'there was nothing more')
        log.append(entry(21))
        await log.sync()
        while (syncs() === 1) await sleep(20)
      }
      const before = syncs()
      for (let index = 22; index <= 80; index += 1) {
        log.append(entry(index))
        await log.sync()
      }
      assert.equal(syncs(), before + 1, 'a segment that is full')
      await close()
      assert.equal(syncs(), before + 2)
      assert.equal((await readIn(directory)).length, append === 'no' ? 79 : 80)
    })
})

test('a crash of the machine may lose what was not synced, and no more: the same hole in what was is damage', async () => {
  for (const append of ['always', 'everysec', 'no'] as const) {
    const directory = newDirectory()
    const { log, close } = await openLog(directory, { append })
    for (let index = 1; index <= 5; index += 1) {
      log.append(entry(index))
      await log.sync()
    }
    const bytes = readFileSync(join(directory, FIRST))
    bytes.fill(0, 16 + ENTRY_BYTES, 16 + 2 * ENTRY_BYTES)
    const crashed = newDirectory()
    writeFileSync(join(crashed, FIRST), bytes)
    if (append === 'always') await assert.rejects(readIn(crashed), { code: 'ERR_AETHER_CONSENSUS_LOG_DAMAGED' })
    else assert.deepEqual(await readIn(crashed), shown(entry(1)))
    await close()
    // What is opened again is on the disk.
    const again = await openLog(directory, { append })
    again.log.append(entry(6))
    await again.log.sync()
    await again.close()
    const later = readFileSync(join(directory, FIRST))
    later.fill(0, 16 + ENTRY_BYTES, 16 + 2 * ENTRY_BYTES)
    writeFileSync(join(directory, FIRST), later)
    await assert.rejects(readIn(directory), { code: 'ERR_AETHER_CONSENSUS_LOG_DAMAGED' })
  }
})

test('a sync aside that falls due while a full segment is closed is no failure of the disk', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const { open: openFile } = promises
  const opening = mock.method(promises, 'open', async (...options: Parameters<typeof open>) => {
    const file = await openFile(...options)
    // Only that of a segment to append to.
    if (options[1] !== 'r+') return file
    const closeFile = file.close.bind(file)
    file.close = () => {
      const closed = closeFile()
      mock.timers.tick(1000)
      return closed
    }
    return file
  })
  syncBuiltinESMExports()
  try {
    const { log, close } = await openLog(newDirectory(), { append: 'everysec', segmentBytes: 1 })
    for (let index = 1; index <= 4; index += 1) {
      log.append(entry(index))
      await log.sync()
    }
    await close()
  } finally {
    mock.timers.reset()
    opening.mock.restore()
    syncBuiltinESMExports()
  }
})

test('a sync aside that fails ends the use of the log', async () => {
  const { log, close } = await openLog(newDirectory(), { append: 'everysec' })
  await whileFailing('datasync', 'EIO', async () => {
    log.append(entry(1))
    await log.sync()
    for (let index = 2; ; index += 1) {
      const failed = await (async () => {
        log.append(entry(index))
        await log.sync()
      })().catch((error: unknown) => error)
      if (failed !== undefined) {
        assert.equal((failed as ConsensusError).code, 'ERR_AETHER_CONSENSUS_LOG_FAILED')
        return
      }
      await sleep(50)
    }
  })
  await close()
})

test('zeros and garbage behind the end are a torn tail, whatever they look like', async () => {
  const random = new Random(3)
  for (const tail of [
    Buffer.alloc(5000),
    Buffer.alloc(5000, 0xff),
    Buffer.from(Array.from({ length: 1 << 20 }, () => random.below(256))),
  ]) {
    const directory = await written([[entry(1)]])
    const file = join(directory, FIRST)
    writeFileSync(file, Buffer.concat([readFileSync(file), tail]))
    assert.deepEqual(await readIn(directory), shown(entry(1)))
  }
})

test('an earlier segment must be whole and there; the last one may lack its head', async () => {
  const make = () => written([[entry(1)], [entry(2)], [entry(3)]], { segmentBytes: 1 })
  const cut = await make()
  const second = join(cut, SECOND)
  writeFileSync(second, readFileSync(second).subarray(0, 40))
  await assert.rejects(readIn(cut), { code: 'ERR_AETHER_CONSENSUS_LOG_DAMAGED', file: second, offset: 16 })
  const missing = await make()
  rmSync(join(missing, SECOND))
  await assert.rejects(readIn(missing), { code: 'ERR_AETHER_CONSENSUS_LOG_DAMAGED', file: join(missing, SECOND) })
  for (const length of [0, 1, 16]) {
    const torn = await make()
    writeFileSync(join(torn, '0000000004.log'), Buffer.alloc(length))
    assert.deepEqual(await readIn(torn), shown(entry(1), entry(2), entry(3)))
    const { log, close } = await openLog(torn)
    log.append(entry(4))
    await log.sync()
    await close()
    assert.deepEqual(await readIn(torn), shown(entry(1), entry(2), entry(3), entry(4)))
  }
  const swapped = await make()
  copyFileSync(join(swapped, FIRST), join(swapped, SECOND))
  await assert.rejects(readIn(swapped), { code: 'ERR_AETHER_CONSENSUS_LOG_DAMAGED', offset: 0 })
})

test('a segment of another version is refused', async () => {
  const directory = await written([[entry(1)]])
  const file = join(directory, FIRST)
  const bytes = readFileSync(file)
  bytes.writeUInt32LE(1, 4)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 12)), 12)
  writeFileSync(file, bytes)
  await assert.rejects(readIn(directory), { code: 'ERR_AETHER_CONSENSUS_LOG_VERSION', file })
})

test('a log is open once, and its directory is made if it is not there', async () => {
  const directory = newDirectory()
  const { log, close } = await openLog(directory)
  await assert.rejects(openLog(directory), { code: 'ERR_AETHER_CONSENSUS_LOG_IN_USE' })
  await log.close()
  await log.close()
  await assert.rejects(openLog(directory), { code: 'ERR_AETHER_CONSENSUS_LOG_IN_USE' })
  await close()
  assert.throws(() => log.append(entry(1)), { code: 'ERR_AETHER_CLOSED' })
  await assert.rejects(log.sync(), { code: 'ERR_AETHER_CLOSED' })
  assert.deepEqual(await readIn(directory), [])
  const made = join(directory, 'not', 'there')
  assert.deepEqual(await readIn(made), [])
  assert.equal(statSync(made).mode & 0o777, 0o700)
  const file = join(made, FIRST)
  await assert.rejects(openLog(file), { code: 'ERR_AETHER_CONSENSUS_LOG_FAILED', file })
  await assert.rejects(openLog(join(file, 'in')), { code: 'ERR_AETHER_CONSENSUS_LOG_FAILED', file: join(file, 'in') })
})

test('many small entries are read again', async () => {
  const entries = Array.from({ length: 200_000 }, (_, at) => entry(at + 1, ''))
  const directory = await written([entries])
  assert.equal((await readIn(directory)).length, entries.length)
})

test('after a sync has failed, for whatever reason, the log refuses all use', async () => {
  for (const code of ['EIO', 'ENOSPC']) {
    const directory = newDirectory()
    const { log, directory: logDirectory, close } = await openLog(directory)
    log.append(entry(1))
    await log.sync()
    log.append(entry(2))
    const isFailed = { code: 'ERR_AETHER_CONSENSUS_LOG_FAILED', file: join(directory, FIRST) }
    await whileFailing('datasync', code, () => assert.rejects(log.sync(), isFailed))
    assert.throws(() => log.append(entry(3)), isFailed)
    for (const refused of [log.sync(), log.truncateBefore(1, 2)]) await assert.rejects(refused, isFailed)
    const snapshot = {
      head: { index: 1, term: 1, configuration: foundingConfiguration([1]), promise: 2 },
      bytes: new Uint8Array(),
    }
    await assert.rejects(writeSnapshotFile(logDirectory, snapshot), isFailed)
    await close()
    assert.deepEqual(await readIn(directory), shown(entry(1), entry(2)))
  }
})

test('the last batch is written again when a log is opened: its sync may have failed, and would now do nothing', async () => {
  const directory = await written([[entry(1)], [entry(2), entry(3)]])
  const start = 16 + ENTRY_BYTES
  const probe = await open(scratch, 'r')
  const write = mock.method(Object.getPrototypeOf(probe) as FileHandle, 'write')
  await probe.close()
  await readIn(directory)
  const calls = write.mock.calls.map((call) => call.arguments as readonly unknown[])
  write.mock.restore()
  const batch = readFileSync(join(directory, FIRST)).subarray(start)
  assert.deepEqual(calls, [[batch, 0, batch.length, start]])
})

test('a write that fails with EIO ends the use of the log; one that fails for lack of room does not', async () => {
  const directory = newDirectory()
  const { log, close } = await openLog(directory)
  log.append(entry(1))
  await whileFailing('write', 'ENOSPC', () =>
    assert.rejects(log.sync(), { code: 'ERR_AETHER_CONSENSUS_LOG_FULL', file: join(directory, FIRST) }),
  )
  log.append(entry(2))
  await log.sync()
  log.append(entry(3))
  await whileFailing('write', 'EIO', () => assert.rejects(log.sync(), { code: 'ERR_AETHER_CONSENSUS_LOG_FAILED' }))
  await assert.rejects(log.sync(), { code: 'ERR_AETHER_CONSENSUS_LOG_FAILED' })
  await close()
  assert.deepEqual(await readIn(directory), shown(entry(1), entry(2)))
})

test('a new segment that could not be made is made later', async () => {
  const directory = newDirectory()
  const { log, close } = await openLog(directory, { segmentBytes: 1 })
  log.append(entry(1))
  await log.sync()
  log.append(entry(2))
  await whileFailing('write', 'ENOSPC', () => assert.rejects(log.sync(), { code: 'ERR_AETHER_CONSENSUS_LOG_FULL' }))
  await log.sync()
  await close()
  assert.deepEqual(await readIn(directory), shown(entry(1), entry(2)))
})

const refusal = smallDisksRefused()
test('a full disk loses nothing: what is appended is synced once there is room', { skip: refusal ?? false }, () => {
  const directory = join(scratch, 'small')
  const room = new URL('../../../src/consensus/durability/', import.meta.url)
  const { status, stderr, stdout } = onSmallDisk(
    directory,
    1,
    `
    const { LogDirectory } = await import('${room}log-directory.js')
    const { LogFile } = await import('${room}log-file.js')
    const { writeSnapshotFile } = await import('${room}snapshot-file.js')
    const { rmSync, writeFileSync } = await import('node:fs')
    writeFileSync(directory + '/other', Buffer.alloc(500_000))
    const disk = await LogDirectory.open(directory)
    const { log } = await LogFile.open(disk)
    const payload = Buffer.alloc(10_000, 'x')
    const entry = (index) => ({ index, term: 1, timeMs: 0, flags: 0, acceptedIn: 1, decided: 0, payload })
    let index = 0
    let code
    while (code === undefined) {
      log.append(entry(++index))
      await log.sync().catch((error) => { code = error.code })
    }
    log.append(entry(++index))
    await log.sync().catch((error) => { code += ' ' + error.code })
    const snapshot = await writeSnapshotFile(disk, { head: {}, bytes: Buffer.alloc(2_000_000) }).catch((error) => error.code)
    rmSync(directory + '/other')
    await log.sync()
    await log.close()
    const { log: again, entries } = await LogFile.open(disk)
    await again.close()
    const all = entries.length === index && entries.every((entry, at) => entry.index === at + 1 && payload.equals(entry.payload))
    console.log(JSON.stringify({ code, snapshot, all, many: index > 10 }))
    `,
  )
  assert.equal(status, 0, stderr)
  assert.deepEqual(JSON.parse(stdout), {
    code: 'ERR_AETHER_CONSENSUS_LOG_FULL ERR_AETHER_CONSENSUS_LOG_FULL',
    snapshot: 'ERR_AETHER_CONSENSUS_LOG_FULL',
    all: true,
    many: true,
  })
})

test('records take the place of zeros; a crash leaves some behind, close leaves none', async () => {
  const directory = newDirectory()
  const { log, close } = await openLog(directory)
  for (const index of [1, 2]) {
    log.append(entry(index))
    await log.sync()
  }
  const crashed = readFileSync(join(directory, FIRST))
  await close()
  const closed = readFileSync(join(directory, FIRST))
  assert.ok(crashed.length > 2 ** 20 && closed.length < 1000)
  assert.ok(crashed.subarray(0, closed.length).equals(closed))
  assert.ok(crashed.subarray(closed.length).every((byte) => byte === 0))
  writeFileSync(join(directory, FIRST), crashed)
  const { log: again, entries, close: closeAgain } = await openLog(directory)
  assert.deepEqual(shown(...entries), shown(entry(1), entry(2)))
  again.append(entry(3))
  await again.sync()
  await closeAgain()
  assert.deepEqual(await readIn(directory), shown(entry(1), entry(2), entry(3)))
})

test('errors say what to do', async () => {
  const directory = newDirectory()
  const { log, close } = await openLog(directory)
  log.append(entry(1))
  const error = await whileFailing('write', 'ENOSPC', () => log.sync().catch((thrown: ConsensusError) => thrown))
  assert.match((error as ConsensusError).message, /free some space, then sync again$/)
  await close()
})
