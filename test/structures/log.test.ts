import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { json, number } from '../../src/codecs/index.ts'
import { LogCore, type Retention } from '../../src/structures/log/log-core.ts'
import { LOG_BODY_BYTES, SharedLog } from '../../src/structures/log/shared-log.ts'
import { BELL_BYTES } from '../../src/structures/waiting/bell.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import type { Numbered } from './fixtures/process.ts'
import { playChannel, playLog } from './log-suite.ts'
import { Shared } from './processes.ts'
import { type Inhabitant, settleMemory, Town } from './town.ts'

useRuntimeDirectory()

const soon = () => ({ signal: AbortSignal.timeout(30_000) })
/** What a log takes that has no records: its block in the directory, and the dummy. */
const EMPTY_BYTES = 256 + 64

function coreOf({ heap, directory }: Inhabitant, retention: Partial<Retention> = {}): LogCore {
  const { offset } = directory.open({ kind: 'log', name: 'log', bodyBytes: LOG_BODY_BYTES, parameters: [] })
  return new LogCore(heap, offset + BELL_BYTES, { records: 0, bytes: 0, dropsForMemory: false, ...retention })
}

function append(core: LogCore, value: number): number {
  return core.append(number.encode(value))
}

function valuesFrom(core: LogCore, from: number, count: number = 1e6): number[] {
  return core.read(from, count).map(({ value }) => number.decode(value))
}

test('records come in the order of their indexes, whoever appended them', () => {
  const town = new Town()
  const [a, b] = [coreOf(town.settle()), coreOf(town.settle())]
  assert.deepEqual([a.bounds(), valuesFrom(a, 0)], [{ first: 0, end: 0 }, []])
  for (let value = 0; value < 6; value += 1) assert.equal(append(value % 2 === 0 ? a : b, value * 10), value)
  assert.deepEqual(b.bounds(), { first: 0, end: 6 })
  assert.deepEqual(
    [valuesFrom(b, 0), valuesFrom(a, 4), valuesFrom(a, 1, 2)],
    [
      [0, 10, 20, 30, 40, 50],
      [40, 50],
      [10, 20],
    ],
  )
  assert.deepEqual(valuesFrom(a, 6), [])
})

test('the latest are kept, by number and by bytes, and the memory of the others is used again', () => {
  const town = new Town()
  const { heap, directory } = town.settle()
  const core = coreOf({ heap, directory } as Inhabitant, { records: 3 })
  for (let value = 0; value < 30_000; value += 1) assert.equal(append(core, value), value)
  assert.deepEqual([core.bounds(), valuesFrom(core, 0)], [{ first: 29_997, end: 30_000 }, [29_997, 29_998, 29_999]])
  settleMemory(heap)
  assert.equal(heap.usage().usedBytes, EMPTY_BYTES + 3 * 64)
  const byBytes = coreOf({ heap, directory } as Inhabitant, { bytes: 100 })
  for (const length of [50, 30, 10, 10]) byBytes.append(new Uint8Array(length))
  assert.deepEqual(byBytes.bounds(), { first: 30_000, end: 30_004 })
  byBytes.append(new Uint8Array(1))
  assert.deepEqual(byBytes.bounds(), { first: 30_001, end: 30_005 })
  byBytes.append(new Uint8Array(200))
  assert.deepEqual(byBytes.bounds(), { first: 30_005, end: 30_006 }, 'the newest stays')
})

test('a log does what an array does, however it is read, trimmed and filled', () => {
  const action = fc.oneof(
    { weight: 5, arbitrary: fc.record({ type: fc.constant('append' as const), by: fc.nat(1) }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('step' as const), by: fc.nat(1) }) },
    fc.record({ type: fc.constant('trim' as const), by: fc.nat(1), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
    fc.record({ type: fc.constant('read' as const), by: fc.nat(1), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  )
  const retained = 40
  fc.assert(
    fc.property(fc.array(action, { minLength: 50, maxLength: 400, size: 'max' }), (actions) => {
      const town = new Town()
      const cores = [coreOf(town.settle(), { records: retained }), coreOf(town.settle(), { records: retained })]
      const positions = [0, 1].map(() => ({ next: 0, reference: 0, state: 0 }))
      const all: number[] = []
      let first = 0
      for (const did of actions) {
        const core = cores[did.by]!
        const position = positions[did.by] as { next: number; reference: number; state: number }
        if (did.type === 'append') {
          all.push(all.length * 3)
          assert.equal(append(core, (all.length - 1) * 3), all.length - 1)
          first = Math.max(first, all.length - retained)
        } else if (did.type === 'step') {
          const index = Math.max(first, position.next)
          const record = core.step(position)
          assert.equal(record && number.decode(record.value), all[index])
          if (record !== undefined) assert.deepEqual([record.index, position.next], [index, index + 1])
        } else if (did.type === 'trim') {
          const before = Math.floor(first + (all.length - first) * did.share)
          assert.equal(core.trim(before), before - first)
          first = before
        } else {
          const from = Math.floor(all.length * did.share)
          assert.deepEqual(valuesFrom(core, from, 7), all.slice(Math.max(from, first), Math.max(from, first) + 7))
        }
        assert.deepEqual(core.bounds(), { first, end: all.length })
      }
    }),
    { numRuns: 60 },
  )
})

test('killed at any access while it appends, a writer leaves whole records and no gap, and holds back nobody and no memory', () => {
  // The thousands in the middle are the blocks of a new slab, one like the other.
  for (let calls = 0, done = false; !done; calls += calls > 60 && calls < 2100 ? 50 : 1) {
    const town = new Town()
    const survivor = town.settle()
    const core = coreOf(survivor, { records: 3 })
    append(core, 100)
    const victim = town.settle()
    let appended = 0
    done = victim.killedAfter(calls, () => {
      const theirs = coreOf(victim, { records: 3 })
      for (; appended < 5; appended += 1) append(theirs, appended)
    })
    // Before anybody knows of the death, and after.
    append(core, 200)
    town.bury(victim)
    settleMemory(survivor.heap)
    append(core, 201)
    const { first, end } = core.bounds()
    assert.ok(end === appended + 3 || (!done && end === appended + 4), `after ${calls} accesses: ${end}`)
    const all = [100, ...[0, 1, 2, 3, 4].slice(0, end - 3), 200, 201]
    assert.deepEqual(valuesFrom(core, 0), all.slice(-3), `after ${calls} accesses`)
    assert.equal(first, end - 3)
    settleMemory(survivor.heap)
    assert.equal(survivor.heap.usage().usedBytes, EMPTY_BYTES + 3 * 64, `after ${calls} accesses`)
  }
})

test('a reader whose place was dropped goes on at what is left, wherever the dropper was killed and whatever its memory is used for since', () => {
  for (let calls = 0, done = false; !done; calls += 1) {
    const town = new Town()
    const survivor = town.settle()
    const core = coreOf(survivor)
    for (let value = 0; value < 4; value += 1) append(core, value)
    const position = { next: 0, reference: 0, state: 0 }
    assert.equal(core.step(position)?.index, 0)
    // The first record becomes the dummy, and then is dropped.
    const victim = town.settle()
    done = victim.killedAfter(calls, () => coreOf(victim).trim(2))
    // It is dead, which frees what nobody looks at; but it has not been looked for what it was at.
    town.bury(victim)
    survivor.heap.blocks.poisons = true
    core.trim(4)
    survivor.heap.epochs.advance()
    survivor.heap.epochs.advance()
    survivor.heap.epochs.collect()
    assert.equal(core.step(position), undefined, `after ${calls} accesses`)
    append(core, 400)
    assert.equal(core.step(position)?.index, 4, `after ${calls} accesses`)
  }
})

test('where there is no memory a log refuses, and keeps what it has; a channel drops its oldest', () => {
  const town = new Town()
  const inhabitant = town.settle()
  const log = coreOf(inhabitant)
  const big = new Uint8Array(30_000)
  const fill = (core: LogCore, times: number) => {
    for (let turn = 0; turn < times; turn += 1) core.append(big)
  }
  assert.throws(() => fill(log, 1000), { code: 'ERR_AETHER_HEAP_FULL' })
  const { first, end } = log.bounds()
  assert.ok(first === 0 && end > 5)
  const channel = coreOf(inhabitant, { dropsForMemory: true })
  fill(channel, 50)
  assert.equal(channel.bounds().end, end + 50)
  assert.ok(channel.bounds().first > first)
})

test('a log is followed as it grows, from where one wishes, until that ends', async () => {
  await using shared = await Shared.open()
  const log = await shared.structures.log<string | undefined>('played', { capacity: 4 })
  await playLog(log, await shared.structures.log<string | undefined>('played', { capacity: 4 }))
  await playChannel(
    await shared.structures.channel('news', { capacity: 50 }),
    await shared.structures.channel('news', { capacity: 50 }),
  )
})

test('whatever is dropped while some entries are read at once, each says how many are missed before it', () => {
  let gaps = 0
  for (let at = 0, done = false; !done; at += 1) {
    const town = new Town()
    const [reader, other] = [town.settle(), town.settle()]
    const logs = [reader, other].map(({ heap, directory }) => {
      const { offset } = directory.open({ kind: 'log', name: 'log', bodyBytes: LOG_BODY_BYTES, parameters: [] })
      const retention = { records: 0, bytes: 0, dropsForMemory: false }
      return new SharedLog<number>('log', heap, offset, {
        codec: number,
        retention,
        valueBytesMax: 8,
        meter: heap.meters.of('log', 'log'),
      })
    }) as [SharedLog<number>, SharedLog<number>]
    for (let value = 0; value < 8; value += 1) logs[1].appendSync(value)
    let seen = 0
    reader.memory.before = () => {
      seen += 1
      if (seen === at) logs[1].trimSync(5)
    }
    let next = 0
    for (const { index, value, missed } of logs[0].readSync(0, 8)) {
      assert.deepEqual([index, value], [next + missed, index], `dropped at access ${at}`)
      if (index > 0 && missed > 0) gaps += 1
      next = index + 1
    }
    reader.memory.before = undefined
    assert.equal(next, 8)
    done = seen < at
  }
  assert.ok(gaps > 1)
})

test('what is no index, or no number of entries, is refused', async () => {
  await using shared = await Shared.open()
  const log = await shared.structures.log<string>('log')
  log.appendSync('a')
  for (const wrong of [Number.NaN, -1, 0.5]) {
    for (const call of [
      () => log.readSync(wrong),
      () => log.readSync(0, wrong),
      () => log.tailSync(wrong),
      () => log.trimSync(wrong),
      () => log.follow({ from: wrong }),
    ])
      assert.throws(call, { code: 'ERR_AETHER_INVALID_ARGUMENT' }, `${wrong}: ${call}`)
  }
  assert.deepEqual([log.readSync(0, Number.POSITIVE_INFINITY).length, log.tailSync(0).length], [1, 0])
})

test('the next entry without a promise', async () => {
  await using shared = await Shared.open()
  const log = await shared.structures.log<string>('events', { capacity: 4 })
  for (const text of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) log.appendSync(text)
  const late = log.follow({ from: 1 })
  assert.deepEqual(late.tryNextSync(), { index: 4, value: 'e', missed: 3 })
  assert.equal(log.trimSync(7), 3)
  assert.deepEqual(late.nextSync(), { index: 7, value: 'h', missed: 2 })
  assert.equal(late.tryNextSync(), undefined)
  assert.throws(() => late.nextSync({ timeoutMs: 5 }), { code: 'ERR_AETHER_TIMEOUT' })
  late.close()
  assert.equal(late.tryNextSync(), undefined)
  await assert.rejects(shared.structures.log('events', { codec: json }), { code: 'ERR_AETHER_STRUCTURE_MISMATCH' })
  const short = await shared.structures.log('events', { capacity: 4, valueBytesMax: 10 })
  await assert.rejects(short.append('more than ten bytes'), { code: 'ERR_AETHER_VALUE_TOO_LARGE' })
})

test('of writers that are killed every acknowledged entry is in the log, once, whole, in order', async () => {
  await using shared = await Shared.open()
  const log = await shared.structures.log<Numbered>('l', { capacity: 200 })
  const follower = log.follow({ from: 'first', ...soon() })
  const numbers: number[] = []
  let missed = 0
  const read = (entry: { value: Numbered; missed: number }) => {
    const { value } = entry
    assert.ok(value.end === value.size && value.text.length === value.size, `entry ${value.number} is torn`)
    numbers.push(value.number)
    missed += entry.missed
  }
  for (let round = 1; round <= 2; round += 1) {
    const firsts = [round * 2e6, round * 2e6 + 1e6]
    const victims = [await shared.start(), await shared.start()]
    for (const [index, victim] of victims.entries()) await victim.call('appendForEver', 'l', firsts[index])
    for (let count = 0; count < 300; count += 1)
      read((await follower.next()).value as { value: Numbered; missed: number })
    for (const victim of victims) await victim.kill()
    for (let entry = follower.tryNextSync(); entry !== undefined; entry = follower.tryNextSync()) read(entry)
    let appended = 0
    for (const first of firsts) {
      const mine = numbers.filter((value) => value >= first && value < first + 1e6)
      assert.deepEqual(
        mine,
        [...new Set(mine)].sort((a, b) => a - b),
      )
      appended += (await shared.structures.counter(`appended ${first}`)).getSync()
    }
    const ours = numbers.filter((value) => value >= round * 2e6).length + missed
    assert.ok(ours >= appended && ours <= appended + 2, `${ours} of ${appended}`)
    missed = 0
  }
  const { first, end } = log.boundsSync()
  // A writer that is killed when it has appended leaves it to the next to drop one.
  assert.ok(end - first >= 200 && end - first <= 202, `${end - first} entries`)
  log.trimSync(log.boundsSync().end)
  await shared.recovered()
  shared.collect()
  const { usedBytes } = shared.structures.usage()
  assert.ok(usedBytes < 20_000, `${usedBytes} bytes are still in use`)
})

test('a message goes to all who subscribed before; who is too slow is told what it missed; who is killed leaves nothing', async () => {
  await using shared = await Shared.open()
  const channel = await shared.structures.channel<number>('news', { capacity: 50 })
  await channel.publish(-1)
  const slow = channel.subscribe(soon())
  const others = [await shared.start(), await shared.start(), await shared.start()]
  for (const other of others) await other.call('subscribeTo', 'news', 500)
  const [victim, ...alive] = others
  await victim?.kill()
  for (let message = 0; message < 500; message += 1) channel.publishSync(message)
  for (const other of alive) {
    const { given, missed } = await other.call<{ given: number; missed: number }>('subscribed')
    assert.equal(given + missed, 500)
  }
  const first = await slow.next()
  assert.deepEqual(first.value, { index: 451, value: 450, missed: 450 })
  await alive[0]?.call('publish', 'news', 1)
  const rest: number[] = []
  for await (const { value, missed } of slow) {
    assert.equal(missed, 0)
    rest.push(value)
    if (value === 0) break
  }
  assert.deepEqual([rest.length, rest[0], rest.at(-2)], [50, 451, 499])
  assert.deepEqual(await slow.next(), { done: true, value: undefined })
  await shared.recovered()
  assert.ok(shared.structures.usage().usedBytes < 20_000)
})
