import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { JournalPort } from '../../../src/consensus/durability/journal-port.ts'
import { JournalThread, type JournalThreadOptions } from '../../../src/consensus/durability/journal-thread.ts'
import type { ConsensusError } from '../../../src/consensus/errors.ts'
import { EntryFlag } from '../../../src/consensus/replica/cell.ts'
import { encodeConfiguration, foundingConfiguration } from '../../../src/consensus/replica/configuration.ts'
import { native } from '../../../src/native/index.ts'
import { KeepAlive } from '../../../src/runtime/index.ts'
import { onSmallDisk, smallDisksRefused } from '../../structures/small-disk.ts'
import { entry, newDirectory, scratch, shown } from './logs.ts'

const configuration = foundingConfiguration([1, 2, 3])
const founding = { ...entry(1), flags: EntryFlag.Configuration, payload: encodeConfiguration(configuration) }

/** A thread with the replica's side of it, and the pipe between them. */
async function opened(directory: string, options: Partial<JournalThreadOptions> = {}) {
  const unexpected = (what: unknown) => assert.fail(String(what))
  const all = { directory, name: 'machine', timeoutMs: 60_000, onFailure: unexpected, onState: unexpected, ...options }
  const thread = await JournalThread.open(all)
  const { id, recovered, bell } = thread
  const journal = new JournalPort(thread.port)
  const ready = new Int32Array(1)
  /** Sleep as a replica does, until so many records are on the disk. */
  const until = (count: number) => {
    for (let have = 0; have < count; ) {
      native.poll(Int32Array.of(bell), ready, 1, 60_000)
      assert.equal(ready[0] === 0, false, 'the bell was rung')
      native.drainPipe(bell)
      const taken = journal.take()
      assert.ok(taken === undefined || taken > have, 'counts grow')
      have = taken ?? have
      if (have >= count) assert.equal(have, count)
    }
  }
  const close = () => thread.close()
  return { journal, id, recovered, thread, until, close }
}

test('records are counted in order once they are on the disk, and are there again', async () => {
  const directory = newDirectory()
  const first = await opened(directory)
  assert.deepEqual(first.recovered, { promise: 0, decided: 0, snapshot: undefined, entries: [] })
  assert.equal(first.journal.take(), undefined)
  first.journal.flush()
  first.journal.promise(3)
  first.journal.append(founding)
  first.journal.append(entry(2))
  first.journal.flush()
  first.until(3)
  assert.equal(first.journal.take(), undefined, 'it is told once')
  const large = entry(3, 'x'.repeat(1_000_000))
  first.journal.append(large)
  first.journal.snapshot({ index: 2, term: 1, configuration }, Buffer.from('two'))
  first.journal.append(entry(4))
  first.journal.flush()
  first.until(6)
  await first.close()
  const second = await opened(directory)
  const { id, recovered } = second
  assert.equal(id, first.id)
  assert.deepEqual([recovered.promise, recovered.decided], [3, 3])
  assert.deepEqual(recovered.snapshot!.head, { index: 2, term: 1, configuration, promise: 3 })
  assert.equal(Buffer.from(recovered.snapshot!.bytes).toString(), 'two')
  assert.deepEqual(shown(...recovered.entries), shown(large, entry(4)))
  second.journal.append(entry(5))
  second.journal.flush()
  second.until(1)
  await second.close()
})

test('memory of an entry may be used again after append, and that of a snapshot is moved', async () => {
  const directory = newDirectory()
  const { journal, close } = await opened(directory)
  const payload = Buffer.from('before')
  journal.append(founding)
  journal.append({ ...entry(2), payload, decided: 1 })
  const [whole, part] = [Uint8Array.of(7), Uint8Array.of(6, 7, 8).subarray(1, 2)]
  for (const bytes of [part, whole]) journal.snapshot({ index: 1, term: 1, configuration }, bytes)
  payload.fill(0)
  journal.flush()
  assert.deepEqual([whole.length, part[0]], [0, 7], 'memory of its own is moved, that of others copied')
  await close()
  const { recovered, close: closeAgain } = await opened(directory)
  assert.deepEqual(shown(...recovered.entries), shown({ ...entry(2, 'before'), decided: 1 }))
  assert.deepEqual([...recovered.snapshot!.bytes], [7])
  await closeAgain()
})

test('what was flushed before close is on the disk after it; it may be closed twice', async () => {
  const directory = newDirectory()
  const { journal, thread, close } = await opened(directory)
  journal.append(founding)
  for (let index = 2; index <= 5000; index += 1) {
    journal.append(entry(index))
    if (index % 10 === 0) journal.flush()
  }
  const closing = thread.close()
  assert.equal(thread.close(), closing)
  await close()
  const { recovered, close: closeAgain } = await opened(directory)
  assert.deepEqual([recovered.decided, recovered.entries.length], [4999, 5000])
  await closeAgain()
})

test('what refuses a directory is told as it is, and the directory is free again', async () => {
  const directory = newDirectory()
  const holder = await opened(directory)
  holder.journal.append(founding)
  holder.journal.append(entry(2))
  holder.journal.flush()
  await assert.rejects(opened(directory), {
    name: 'ConsensusError',
    code: 'ERR_AETHER_CONSENSUS_LOG_IN_USE',
    file: join(directory, 'lock'),
    message: /give each replica a directory of its own$/,
  })
  await holder.close()
  await assert.rejects(opened(directory, { name: 'another' }), { code: 'ERR_AETHER_CONSENSUS_LOG_FOREIGN' })
  const file = join(directory, 'snapshot')
  writeFileSync(file, 'not a snapshot')
  await assert.rejects(opened(directory), { code: 'ERR_AETHER_CONSENSUS_LOG_DAMAGED', file, offset: 0 })
  await assert.rejects(opened(file), { code: 'ERR_AETHER_CONSENSUS_LOG_FAILED', file })
})

test('a disk that fails is told once, and nothing is counted after it', async () => {
  const directory = newDirectory()
  const failures: ConsensusError[] = []
  let told = () => {}
  const failing = new Promise<void>((resolve) => {
    told = resolve
  })
  const { journal, until, close } = await opened(directory, {
    onFailure: (error) => {
      failures.push(error)
      told()
    },
  })
  journal.append(founding)
  journal.flush()
  until(1)
  // A snapshot is written beside the older one, under a name that is taken.
  mkdirSync(join(directory, 'snapshot.new'))
  journal.append(entry(2))
  journal.snapshot({ index: 7, term: 1, configuration }, Buffer.of(1))
  journal.append(entry(8))
  journal.flush()
  await new KeepAlive().during(failing)
  journal.append(entry(9))
  journal.flush()
  await close()
  assert.equal(journal.take(), 2)
  assert.deepEqual(
    failures.map(({ name, code, file }) => [name, code, file]),
    [['ConsensusError', 'ERR_AETHER_CONSENSUS_LOG_FAILED', join(directory, 'snapshot.new')]],
  )
  // Entries behind a snapshot are not on the disk before it: they may follow on what only it holds.
  rmdirSync(join(directory, 'snapshot.new'))
  const { recovered, close: closeAgain } = await opened(directory)
  assert.deepEqual(shown(...recovered.entries), shown(founding, entry(2)))
  await closeAgain()
})

test('entries do not wait for a snapshot of what the log has anyway', async () => {
  const directory = newDirectory()
  let told = (_error: ConsensusError) => {}
  const failing = new Promise<ConsensusError>((resolve) => {
    told = resolve
  })
  const { journal, until, close } = await opened(directory, { onFailure: (error) => told(error) })
  journal.append(founding)
  journal.append(entry(3))
  journal.append(entry(2))
  journal.append(entry(4))
  journal.flush()
  until(4)
  // Who opens it for writing waits for a reader.
  const pipe = join(directory, 'snapshot.new')
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0)
  journal.snapshot({ index: 3, term: 1, configuration }, Buffer.of(1))
  journal.append(entry(5))
  journal.flush()
  until(6)
  journal.append(entry(6))
  journal.flush()
  until(7)
  // A pipe cannot be synced.
  const reader = await open(pipe)
  assert.equal((await new KeepAlive().during(failing)).file, pipe)
  await close()
  await reader.close()
  const { recovered, close: closeAgain } = await opened(directory)
  assert.deepEqual(shown(...recovered.entries), shown(founding, entry(2), entry(3), entry(4), entry(5), entry(6)))
  await closeAgain()
})

test('a thread that ends in another way is a failure, too', async () => {
  const directory = newDirectory()
  const failures: ConsensusError[] = []
  const { thread, close } = await opened(directory, { onFailure: (error) => failures.push(error) })
  // Not what a replica posts.
  thread.port.postMessage(5)
  await new KeepAlive().during(
    (async () => {
      while (failures.length === 0) await new Promise(setImmediate)
    })(),
  )
  await close()
  assert.deepEqual(
    failures.map(({ name, code }) => [name, code]),
    [['ConsensusError', 'ERR_AETHER_CONSENSUS_LOG_FAILED']],
  )
  assert.match(failures[0]!.message, /^the thread of the log failed: TypeError/)
  await (await opened(directory)).close()
})

test('all that was counted survives a process that is killed while it appends', async () => {
  const directory = newDirectory()
  const program = fileURLToPath(new URL('./fixtures/writer.js', import.meta.url))
  let [id, last] = [0, 0]
  for (const lines of [1, 40, 200]) {
    const child = spawn(process.execPath, [program, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    let counted = 0
    let seen = 0
    for await (const line of createInterface({ input: child.stdout })) {
      counted = Number(line)
      if (++seen === lines) child.kill('SIGKILL')
    }
    await ended
    assert.ok(seen >= lines && counted > last, `${seen} lines, ${counted} entries after ${last}`)
    last = counted
    const { id: now, recovered, close } = await opened(directory)
    await close()
    if (id === 0) id = now
    assert.equal(now, id)
    const base = recovered.snapshot?.head.index ?? 0
    if (recovered.snapshot !== undefined) assert.equal(Buffer.from(recovered.snapshot.bytes).toString(), `${base}`)
    assert.ok(base + recovered.entries.length >= counted, `${base} and ${recovered.entries.length}, not ${counted}`)
    assert.ok(recovered.promise >= counted)
    for (const [at, { index, payload }] of recovered.entries.entries()) {
      assert.equal(index, base + at + 1)
      if (index > 1) assert.equal(Buffer.from(payload).toString(), `${index} `.repeat(1 + (index % 50)))
    }
  }
})

test('a disk that does not answer is not waited for beyond the time', async () => {
  const directory = newDirectory()
  const identity = join(directory, 'identity')
  // To read it takes a writer, who does not come.
  assert.equal(spawnSync('mkfifo', [identity]).status, 0)
  const isLate = { code: 'ERR_AETHER_CONSENSUS_TIMEOUT', message: /was not read within 50 ms; look at its disk/ }
  await assert.rejects(opened(directory, { timeoutMs: 50 }), isLate)
  // Opened for both, it does not wait for a reader. One that waits is let go.
  await (await open(identity, 'r+')).close()
})

test('it keeps no process alive, and a process may end while it writes', () => {
  const room = new URL('../../../src/consensus/durability/', import.meta.url)
  const program = `
    const { JournalThread } = await import('${room}journal-thread.js')
    const { JournalPort } = await import('${room}journal-port.js')
    const nothing = () => {}
    const options = { directory: process.argv[1], name: 'machine', timeoutMs: 60_000, onFailure: nothing, onState: nothing }
    const thread = await JournalThread.open(options)
    const journal = new JournalPort(thread.port)
    journal.promise(1)
    journal.flush()
    console.log('end')`
  const argv = ['--input-type=module', '-e', program, newDirectory()]
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8', timeout: 60_000 })
  assert.deepEqual([status, stdout, stderr], [0, 'end\n', ''])
})

/** A program on a disk of one megabyte, most of which is taken; it prints JSON. */
function onFullDisk(directory: string, program: string): unknown {
  const room = new URL('../../../src/consensus/durability/', import.meta.url)
  const native = new URL('../../../src/native/index.js', import.meta.url)
  const { status, stdout, stderr } = onSmallDisk(
    directory,
    1,
    `
    const { JournalThread } = await import('${room}journal-thread.js')
    const { JournalPort } = await import('${room}journal-port.js')
    const { native } = await import('${native}')
    const { rmSync, writeFileSync } = await import('node:fs')
    writeFileSync(directory + '/other', Buffer.alloc(700_000))
    const told = []
    let wake = () => {}
    const tell = (what) => { told.push(what); wake() }
    const heard = async (what) => { while (!told.includes(what)) await new Promise((resolve) => { wake = resolve }) }
    const openThread = () => JournalThread.open({
      directory: directory + '/log', name: 'machine', timeoutMs: 60_000,
      onFailure: (error) => tell(error.code), onState: tell,
    })
    const thread = await openThread()
    const { bell } = thread
    const journal = new JournalPort(thread.port)
    const append = (index, lengthBytes) => journal.append({
      index, term: 1, timeMs: 0, flags: index === 1 ? 2 : 0, acceptedIn: 1, decided: 1,
      payload: Buffer.alloc(lengthBytes, 'x'),
    })
    const keepAlive = setInterval(() => {}, 1000)
    ${program}
    clearInterval(keepAlive)`,
  )
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

const refusal = smallDisksRefused()
test('a full disk is told, loses nothing, and is told when it is over', { skip: refusal ?? false }, () => {
  const found = onFullDisk(
    join(scratch, 'full'),
    `
    let [index, count] = [0, 0]
    const take = async () => {
      native.poll(Int32Array.of(bell), new Int32Array(1), 1, 10)
      native.drainPipe(bell)
      count = journal.take() ?? count
      await new Promise(setImmediate)
    }
    while (!told.includes('full')) {
      append(++index, 10_000)
      journal.flush()
      while (count < index && !told.includes('full')) await take()
    }
    const before = count
    append(++index, 300_000)
    journal.snapshot({ index: 2, term: 1, configuration: { version: 0, voters: [], nextNumber: 0 } }, Buffer.alloc(10_000))
    append(++index, 10)
    journal.flush()
    rmSync(directory + '/other')
    await heard('well')
    while (count < index + 1) await take()
    await thread.close()
    const again = await openThread()
    await again.close()
    const { entries, snapshot } = again.recovered
    const all = snapshot.head.index + entries.length === index
    console.log(JSON.stringify({ told, all, before: index - before }))`,
  )
  assert.deepEqual(found, { told: ['full', 'well'], all: true, before: 3 })
})

test('a disk that stays full while too much waits is a failure', { skip: refusal ?? false }, () => {
  const found = onFullDisk(
    join(scratch, 'fuller'),
    `
    append(1, 100)
    append(2, 500_000)
    journal.flush()
    await heard('full')
    for (let index = 3; index < 70; index += 1) {
      append(index, 2 ** 20)
      journal.flush()
    }
    await heard('ERR_AETHER_CONSENSUS_LOG_FULL')
    await thread.close()
    rmSync(directory + '/other')
    const again = await openThread()
    await again.close()
    console.log(JSON.stringify({ told, count: journal.take() ?? 0 }))`,
  )
  assert.deepEqual(found, { told: ['full', 'ERR_AETHER_CONSENSUS_LOG_FULL'], count: 0 })
})
