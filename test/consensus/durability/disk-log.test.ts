import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mock, test } from 'node:test'
import { DiskLog } from '../../../src/consensus/durability/disk-log.ts'
import { LogDirectory } from '../../../src/consensus/durability/log-directory.ts'
import { promiseOf, recordLengthOf, writeRecord } from '../../../src/consensus/durability/log-segment.ts'
import { type AcceptedEntry, EntryFlag } from '../../../src/consensus/replica/cell.ts'
import { encodeConfiguration, foundingConfiguration } from '../../../src/consensus/replica/configuration.ts'
import type { Recovered } from '../../../src/consensus/replica/journal.ts'
import { entry, newDirectory, openLog, shown } from './logs.ts'

const configuration = foundingConfiguration([1, 2, 3])
/** The first entry of a log. It is decided where a later one says so. */
const founding: AcceptedEntry = {
  ...entry(1),
  flags: EntryFlag.Configuration,
  payload: encodeConfiguration(configuration),
}
const place = (index: number) => ({ index, term: 1, configuration })

function records(...entries: readonly AcceptedEntry[]): Buffer {
  return Buffer.concat(
    entries.map((one) => {
      const record = Buffer.alloc(recordLengthOf(one))
      writeRecord(record, 0, one)
      return record
    }),
  )
}

/** What one run of a replica left. */
async function written(directory: string, act: (disk: DiskLog) => Promise<void>): Promise<number> {
  const { disk } = await DiskLog.open(directory, 'machine')
  await act(disk)
  await disk.close()
  return disk.id
}

async function synced(disk: DiskLog, ...entries: readonly AcceptedEntry[]): Promise<void> {
  assert.equal(disk.append(records(...entries)), entries.length)
  await disk.sync()
}

async function reopened(directory: string): Promise<Recovered & { readonly id: number }> {
  const { disk, recovered } = await DiskLog.open(directory, 'machine')
  await disk.close()
  return { id: disk.id, ...recovered }
}

/** What a crash would leave before each file is removed, before each sync of the directory, and at the end: copies. */
async function leftByCrashes(directory: string, act: () => Promise<unknown>): Promise<string[]> {
  const left: string[] = []
  const crash = () => {
    const copy = newDirectory()
    cpSync(directory, copy, { recursive: true })
    left.push(copy)
  }
  const { remove, sync } = LogDirectory.prototype
  const removing = mock.method(LogDirectory.prototype, 'remove', function (this: LogDirectory, name: string) {
    crash()
    return remove.call(this, name)
  })
  const syncing = mock.method(LogDirectory.prototype, 'sync', function (this: LogDirectory) {
    crash()
    return sync.call(this)
  })
  await act()
  removing.mock.restore()
  syncing.mock.restore()
  crash()
  return left
}

const bytesIn = ({ snapshot }: Recovered) => snapshot && Buffer.from(snapshot.bytes).toString()

test('what a replica promised, accepted and took as a snapshot is there again, with its id', async () => {
  const directory = join(newDirectory(), 'made')
  const first = await written(directory, async (disk) => {
    await synced(disk, founding, entry(2), promiseOf(9), entry(3))
  })
  assert.ok(Number.isSafeInteger(first) && first > 0 && first < 2 ** 48)
  const { id, promise, decided, snapshot, entries } = await reopened(directory)
  assert.deepEqual([id, promise, decided, snapshot], [first, 9, 2, undefined])
  assert.deepEqual(shown(...entries), shown(founding, entry(2), entry(3)))
  const second = await written(directory, async (disk) => {
    await disk.writeSnapshot(place(2), Buffer.from('two'))
    await synced(disk, entry(4))
  })
  assert.equal(second, first)
  const again = await reopened(directory)
  assert.deepEqual([again.id, again.promise, again.decided, bytesIn(again)], [first, 9, 3, 'two'])
  assert.deepEqual(again.snapshot!.head, { ...place(2), promise: 9 })
  assert.deepEqual(shown(...again.entries), shown(entry(3), entry(4)))
  assert.deepEqual(readdirSync(directory).sort(), ['0000000001.log', 'identity', 'lock', 'snapshot'])
})

test('a snapshot stands for entries that never were in the log', async () => {
  const directory = newDirectory()
  await written(directory, async (disk) => {
    await synced(disk, promiseOf(4))
    await disk.writeSnapshot(place(100), Buffer.from('hundred'))
    await synced(disk, entry(101))
  })
  const { promise, decided, entries, ...rest } = await reopened(directory)
  assert.deepEqual([promise, decided, bytesIn({ promise, decided, entries, ...rest })], [4, 100, 'hundred'])
  assert.deepEqual(shown(...entries), shown(entry(101)))
  await written(directory, (disk) => disk.writeSnapshot(place(99), Buffer.from('older')))
  assert.equal(bytesIn(await reopened(directory)), 'hundred', 'an older one replaces nothing')
})

test('a log holds entries without a gap that are known to be decided', async () => {
  const directory = newDirectory()
  await written(directory, async (disk) => {
    assert.deepEqual([disk.holds(0), disk.holds(1)], [true, false])
    disk.append(records(founding, entry(2)))
    assert.deepEqual([disk.holds(1), disk.holds(2)], [true, false], 'the second may not be the one that is decided')
    disk.append(records({ ...entry(4), decided: 4 }))
    assert.deepEqual([disk.holds(2), disk.holds(3), disk.holds(4)], [true, false, false])
    disk.append(records(entry(3), promiseOf(9)))
    assert.deepEqual([disk.holds(4), disk.holds(5)], [true, false])
    await synced(disk, entry(7), entry(8))
    await disk.writeSnapshot(place(6), Buffer.from('six'))
    assert.deepEqual([disk.holds(7), disk.holds(8)], [true, false])
  })
  await written(directory, async (disk) => {
    assert.deepEqual([disk.holds(7), disk.holds(8)], [true, false], 'and after a restart')
  })
})

test('a promise outlives its segment, at any point of a crash', async () => {
  const directory = newDirectory()
  // Segments as small as can be, each with one record.
  const { id } = await reopened(directory)
  const log = await openLog(directory, { segmentBytes: 1 })
  for (const one of [founding, promiseOf(12), entry(2), entry(3), entry(4)]) {
    log.log.append(one)
    await log.log.sync()
  }
  await log.close()
  const left = await leftByCrashes(directory, () =>
    written(directory, (disk) => disk.writeSnapshot(place(3), Buffer.from('three'))),
  )
  assert.ok(!readdirSync(directory).includes('0000000001.log'), 'segments were removed')
  assert.ok(left.length > 4)
  for (const copy of left) {
    const recovered = await reopened(copy)
    assert.deepEqual([recovered.id, recovered.promise, recovered.decided], [id, 12, 3])
    assert.deepEqual(shown(...recovered.entries).slice(-1), shown(entry(4)))
  }
})

test('where no configuration is decided, a replica begins as a new one', async () => {
  for (const [what, act] of [
    ['nothing', async () => {}],
    ['a promise', (disk: DiskLog) => synced(disk, promiseOf(3))],
    ['a configuration that is not decided', (disk: DiskLog) => synced(disk, founding)],
    ['entries behind a snapshot that did not come', (disk: DiskLog) => synced(disk, entry(101), entry(102))],
  ] as const) {
    const directory = newDirectory()
    const before = await written(directory, act)
    const { id, ...recovered } = await reopened(directory)
    assert.notEqual(id, before, what)
    assert.deepEqual(recovered, { promise: 0, decided: 0, snapshot: undefined, entries: [] }, what)
    const { log, ...contents } = await openLog(directory)
    assert.deepEqual([contents.promise, contents.entries], [0, []], 'nor is it in the files')
    assert.equal(log.promised, 0)
    await contents.close()
  }
})

test('a crash while it begins as a new one leaves a directory that begins as a new one', async () => {
  const directory = newDirectory()
  await reopened(directory)
  const log = await openLog(directory, { segmentBytes: 1 })
  for (const one of [promiseOf(3), founding, promiseOf(4)]) {
    log.log.append(one)
    await log.log.sync()
  }
  await log.close()
  const left = await leftByCrashes(directory, () => reopened(directory))
  assert.ok(left.length > 6)
  for (const copy of left) {
    const { id: _id, ...recovered } = await reopened(copy)
    assert.deepEqual(recovered, { promise: 0, decided: 0, snapshot: undefined, entries: [] })
  }
})

test('a directory of another machine is refused, whatever is in it', async () => {
  const directory = newDirectory()
  await reopened(directory)
  const file = join(directory, 'identity')
  const before = readFileSync(file)
  await assert.rejects(DiskLog.open(directory, 'another'), {
    code: 'ERR_AETHER_CONSENSUS_LOG_FOREIGN',
    file,
    message: /holds the log of 'machine', not of 'another'; open 'machine' there, or give 'another' a directory/,
  })
  assert.ok(readFileSync(file).equals(before))
  await reopened(directory)
})

test('an identity that is damaged, of another version or gone is told', async () => {
  const directory = newDirectory()
  const file = join(directory, 'identity')
  await written(directory, (disk) => synced(disk, founding, entry(2)))
  const whole = readFileSync(file, 'utf8')
  const isDamaged = { code: 'ERR_AETHER_CONSENSUS_LOG_DAMAGED', file }
  for (const text of ['', whole.slice(0, -3), '5', 'null', '{}', whole.replace(/"id":\d+/, '"id":"x"')]) {
    writeFileSync(file, text)
    await assert.rejects(reopened(directory), isDamaged, text)
  }
  writeFileSync(file, whole.replace('"format":1', '"format":2'))
  await assert.rejects(reopened(directory), { code: 'ERR_AETHER_CONSENSUS_LOG_VERSION', file })
  rmSync(file)
  await assert.rejects(reopened(directory), isDamaged)
  writeFileSync(file, whole)
  assert.equal((await reopened(directory)).decided, 1)
})

test('a decided entry that is missing is told, and so is a snapshot', async () => {
  const gap = newDirectory()
  await written(gap, (disk) => synced(disk, founding, entry(2), entry(4), entry(5)))
  await assert.rejects(reopened(gap), {
    code: 'ERR_AETHER_CONSENSUS_LOG_DAMAGED',
    file: gap,
    message: /entry 3 is missing, and entries up to 4 are decided/,
  })
  const behind = newDirectory()
  await written(behind, async (disk) => {
    await disk.writeSnapshot(place(7), Buffer.from('seven'))
    await synced(disk, { ...entry(9), decided: 8 })
  })
  await assert.rejects(reopened(behind), { code: 'ERR_AETHER_CONSENSUS_LOG_DAMAGED', message: /entry 8 is missing/ })
  const lost = newDirectory()
  await reopened(lost)
  const { log, close } = await openLog(lost, { segmentBytes: 1 })
  for (const one of [founding, entry(2), entry(3)]) {
    log.append(one)
    await log.sync()
  }
  await close()
  await written(lost, (disk) => disk.writeSnapshot(place(2), Buffer.from('two')))
  const file = join(lost, 'snapshot')
  rmSync(file)
  await assert.rejects(reopened(lost), { code: 'ERR_AETHER_CONSENSUS_LOG_DAMAGED', file })
})

test('a directory is open once, and is closed again where it is refused', async () => {
  const directory = newDirectory()
  const { disk } = await DiskLog.open(directory, 'machine')
  await assert.rejects(DiskLog.open(directory, 'machine'), { code: 'ERR_AETHER_CONSENSUS_LOG_IN_USE' })
  await disk.close()
  await assert.rejects(DiskLog.open(directory, 'another'), { code: 'ERR_AETHER_CONSENSUS_LOG_FOREIGN' })
  writeFileSync(join(directory, 'snapshot.new'), 'half of it')
  await reopened(directory)
  assert.deepEqual(readdirSync(directory).sort(), ['0000000001.log', 'identity', 'lock'])
})
