import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import { bytes, type Codec, json, structured } from '../../../src/codecs/index.ts'
import type { ConsensusError } from '../../../src/consensus/errors.ts'
import { Applier } from '../../../src/consensus/machine/applier.ts'
import { answerOf } from '../../../src/consensus/machine/outcome.ts'
import { takeSnapshot } from '../../../src/consensus/machine/snapshot.ts'
import {
  applyCommand,
  applyNext,
  type Command,
  encoded,
  journalApplier,
  payloadOf,
  type TestApplier,
  type Told,
} from './journal.ts'

const answerCodec = json as Codec<string>

/** What each command came to: its answer, or the code and outcome of the error. */
function seen(told: readonly Told[]): string[] {
  return told.map(({ session, sequence, outcome }) => {
    try {
      return `${session}/${sequence} = ${answerOf(outcome, answerCodec)}`
    } catch (error) {
      const { code, outcome: became } = error as ConsensusError
      return `${session}/${sequence} ${code} ${became}`
    }
  })
}

test('commands are applied in order, with their number, the time of the log and the term', () => {
  const { applier, journal, told } = journalApplier()
  applyNext(
    applier,
    (writer) => {
      writer.begin({ term: 3, leader: 1 })
      writer.command({ session: 7, sequence: 1, acknowledged: 0 }, encoded('a'))
      writer.command({ session: 8, sequence: 1, acknowledged: 0 }, encoded('b'))
    },
    { timeMs: 50, term: 3 },
  )
  applyNext(applier, () => {}, { timeMs: 60, term: 4 })
  applyCommand(applier, { session: 7, sequence: 2 }, { command: 'c', timeMs: 70, term: 4 })
  assert.deepEqual(journal.lines, ['1 50 3 a', '2 50 3 b', '3 70 4 c'])
  assert.deepEqual(seen(told), ['7/1 = 1: a', '8/1 = 2: b', '7/2 = 3: c'])
  assert.equal(applier.index, 3)
})

test('the time of the log never goes back', () => {
  const { applier, journal } = journalApplier()
  for (const [index, timeMs] of [100, 40, 120].entries())
    applyCommand(applier, { session: 1, sequence: index + 1 }, { timeMs })
  assert.deepEqual(
    journal.lines.map((line) => line.split(' ')[1]),
    ['100', '100', '120'],
  )
})

test('entries come without gaps', () => {
  const { applier } = journalApplier()
  const payload = new Uint8Array()
  for (const index of [0, 2]) assert.throws(() => applier.apply({ index, term: 1, timeMs: 0, payload }), isDefect)
  applier.apply({ index: 1, term: 1, timeMs: 0, payload })
  for (const index of [1, 3]) assert.throws(() => applier.apply({ index, term: 1, timeMs: 0, payload }), isDefect)
  assert.equal(applier.index, 1)
})

const isDefect = { code: 'ERR_AETHER_DEFECT' }

test('a malformed entry changes nothing, not even by its first records', () => {
  const { applier, journal, told } = journalApplier()
  applyCommand(applier, { session: 1, sequence: 1 })
  const before = takeSnapshot(applier)
  const payload = Buffer.concat([
    payloadOf((writer) => writer.command({ session: 1, sequence: 2, acknowledged: 1 }, encoded('x'))),
    Buffer.from([1, 2, 3]),
  ])
  assert.throws(() => applier.apply({ index: 2, term: 1, timeMs: 5000, payload }), {
    code: 'ERR_AETHER_CONSENSUS_RECORD',
  })
  assert.deepEqual(takeSnapshot(applier), before)
  assert.deepEqual([journal.lines.length, told.length], [1, 1])
  applyCommand(applier, { session: 1, sequence: 2 })
})

test('a duplicate is not applied: it gets the outcome that is kept, until it was acknowledged', () => {
  const { applier, journal, told } = journalApplier()
  applyCommand(applier, { session: 1, sequence: 1 }, { command: 'a' })
  applyCommand(applier, { session: 1, sequence: 1 }, { command: 'a' })
  applyCommand(applier, { session: 1, sequence: 2, acknowledged: 1 }, { command: 'b' })
  applyCommand(applier, { session: 1, sequence: 1 }, { command: 'a' })
  applyCommand(applier, { session: 1, sequence: 2 }, { command: 'b' })
  assert.deepEqual(seen(told), [
    '1/1 = 1: a',
    '1/1 = 1: a',
    '1/2 = 2: b',
    '1/1 ERR_AETHER_CONSENSUS_ACKNOWLEDGED applied',
    '1/2 = 2: b',
  ])
  assert.equal(journal.lines.length, 2)
})

test('commands of a session may come in any order, each once', () => {
  const { applier, journal } = journalApplier()
  for (const sequence of [1, 5, 3, 5, 2, 3, 2, 4, 4, 1, 7, 6, 7]) applyCommand(applier, { session: 1, sequence })
  assert.deepEqual(
    journal.lines.map((line) => line.split(' ')[3]),
    ['1/1', '1/5', '1/3', '1/2', '1/4', '1/7', '1/6'],
  )
})

test('an acknowledgement drops only what was applied without gaps', () => {
  const { applier, told } = journalApplier()
  for (const sequence of [1, 3]) applyCommand(applier, { session: 1, sequence })
  // Nobody can have the answer of 2.
  applyCommand(applier, { session: 1, sequence: 4, acknowledged: 3 })
  applyCommand(applier, { session: 1, sequence: 3 })
  applyCommand(applier, { session: 1, sequence: 2 })
  applyCommand(applier, { session: 1, sequence: 1 })
  assert.deepEqual(seen(told).slice(3), [
    '1/3 = 2: 1/3',
    '1/2 = 4: 1/2',
    '1/1 ERR_AETHER_CONSENSUS_ACKNOWLEDGED applied',
  ])
})

test('what the machine throws is the outcome: kept, told again, and no reason to stop', () => {
  const { applier, journal, told } = journalApplier()
  const command = { text: 'no', throw: true }
  for (let time = 0; time < 2; time += 1) applyCommand(applier, { session: 1, sequence: 1 }, { command })
  applyCommand(applier, { session: 1, sequence: 2 })
  assert.deepEqual(journal.lines, ['1 0 1 no', '2 0 1 1/2'])
  for (const { outcome } of told.slice(0, 2))
    assert.throws(
      () => answerOf(outcome, answerCodec),
      (error: ConsensusError) => {
        assert.equal(error.code, 'ERR_AETHER_CONSENSUS_REJECTED')
        assert.equal(error.outcome, 'applied')
        const { name, message, code } = error.cause as NodeJS.ErrnoException
        assert.deepEqual({ name, message, code }, { name: 'RangeError', message: 'no', code: 'TOO_MUCH' })
        return true
      },
    )
})

test('anything may be thrown', () => {
  for (const [value, message] of [
    ['text', 'text'],
    [undefined, 'undefined'],
    [Object.create(null), 'a value without a text was thrown'],
    [Object.assign(new Error('odd'), { name: 5, code: 6 }), 'odd'],
  ]) {
    const told: Told[] = []
    const applier = new Applier<Command, string>({
      machine: {
        apply: () => {
          throw value
        },
        snapshot: () => [],
        restore: () => {},
      },
      codec: json as Codec<Command>,
      sessionMs: 1,
      onAnswer: (session, sequence, outcome) => told.push({ session, sequence, outcome }),
    })
    applyCommand(applier, { session: 1, sequence: 1 })
    assert.throws(
      () => answerOf(told[0]!.outcome, answerCodec),
      ({ cause }: { cause: Error }) => cause.message === message && cause.name === 'Error' && !('code' in cause),
    )
  }
})

test('a command that cannot be decoded has an error as its outcome, and no number', () => {
  const { applier, journal, told } = journalApplier()
  applyNext(applier, (writer) => writer.command({ session: 1, sequence: 1, acknowledged: 0 }, Buffer.from('{')))
  applyCommand(applier, { session: 1, sequence: 2 })
  assert.equal(seen(told)[0], '1/1 ERR_AETHER_CONSENSUS_REJECTED applied')
  assert.deepEqual(journal.lines, ['1 0 1 1/2'])
})

test('an answer that cannot be encoded, and a promise, are errors', () => {
  for (const answer of [() => () => {}, async () => 'late', () => Promise.reject(new Error('late'))]) {
    const told: Told[] = []
    const { applier } = journalApplier({
      machine: { apply: () => answer() as never, snapshot: () => [], restore: () => {} },
      onAnswer: (session, sequence, outcome) => told.push({ session, sequence, outcome }),
    })
    applyCommand(applier, { session: 1, sequence: 1 })
    assert.equal(seen(told)[0], '1/1 ERR_AETHER_CONSENSUS_REJECTED applied')
  }
})

test('outcomes do not change with the memory of a codec or of an entry', () => {
  const told: Told[] = []
  const memory = Buffer.alloc(1)
  const intoMemory = (value: Uint8Array) => {
    memory.set(value)
    return memory
  }
  const applier = new Applier<Uint8Array, Uint8Array>({
    machine: { apply: (command) => command, snapshot: () => [], restore: () => {} },
    codec: { name: 'views', encode: (value) => value, decode: (value) => value },
    answerCodec: { name: 'scratch', encode: intoMemory, decode: (value) => value.slice() },
    sessionMs: 1,
    onAnswer: (session, sequence, outcome) => told.push({ session, sequence, outcome }),
  })
  const payload = payloadOf((writer) => {
    for (const sequence of [1, 2]) writer.command({ session: 1, sequence, acknowledged: 0 }, Buffer.from([sequence]))
  })
  applier.apply({ index: 1, term: 1, timeMs: 0, payload })
  payload.fill(0)
  assert.deepEqual(
    told.map(({ outcome }) => [...answerOf(outcome, bytes)]),
    [[1], [2]],
  )
  assert.deepEqual(
    applier.changesFrom(1).map(({ command, answer }) => [[...command], [...answer!]]),
    [
      [[1], [1]],
      [[2], [2]],
    ],
  )
})

test('a session expires by the time of the log, counted from its last record', () => {
  const { applier, journal, told } = journalApplier({ sessionMs: 1000 })
  applyCommand(applier, { session: 1, sequence: 1 }, { timeMs: 0 })
  applyCommand(applier, { session: 2, sequence: 1 }, { timeMs: 0 })
  // A duplicate is a sign of life, too.
  applyCommand(applier, { session: 1, sequence: 1 }, { timeMs: 999 })
  applyCommand(applier, { session: 2, sequence: 2 }, { timeMs: 1000 })
  applyCommand(applier, { session: 1, sequence: 2 }, { timeMs: 1998 })
  applyCommand(applier, { session: 1, sequence: 3 }, { timeMs: 2998 })
  assert.deepEqual(
    seen(told).filter((line) => line.includes('EXPIRED')),
    ['2/2 ERR_AETHER_CONSENSUS_EXPIRED unknown', '1/3 ERR_AETHER_CONSENSUS_EXPIRED unknown'],
  )
  assert.deepEqual(
    journal.lines.map((line) => line.split(' ')[3]),
    ['1/1', '2/1', '1/2'],
  )
})

test('only sequence 1 begins a session', () => {
  const { applier, told } = journalApplier()
  for (const sequence of [2, 1, 2]) applyCommand(applier, { session: 9, sequence })
  assert.deepEqual(seen(told), ['9/2 ERR_AETHER_CONSENSUS_EXPIRED unknown', '9/1 = 1: 9/1', '9/2 = 2: 9/2'])
})

/** Apply the parts of a command, each in an entry of its own; the last number is that of the Command. */
function applyParts(applier: TestApplier, parts: readonly (number | 'begin')[], last: number): void {
  const name = { session: 1, sequence: 1 }
  const all = encoded('a long command')
  const pieceOf = (part: number) => all.subarray(part * 4, part === last ? undefined : part * 4 + 4)
  for (const part of parts)
    applyNext(applier, (writer) => {
      if (part === 'begin') writer.begin({ term: 2, leader: 2 })
      else if (part === last) writer.command({ ...name, acknowledged: 0, parts: last }, pieceOf(part))
      else writer.fragment({ ...name, part }, pieceOf(part))
    })
}

test('fragments in order and the Command after them are one command', () => {
  const { applier, told } = journalApplier()
  applyParts(applier, [0, 1, 2, 3], 3)
  assert.deepEqual(seen(told), ['1/1 = 1: a long command'])
})

test('fragments that lack one, or whose leader was replaced, are dropped; all may be sent again', () => {
  for (const parts of [
    [0, 2, 3],
    [1, 2, 3],
    [3],
    [0, 1, 3],
    [0, 0, 2, 3],
    [0, 1, 1, 2, 3],
    [0, 1, 2, 'begin', 3],
    [0, 1, 'begin', 2, 3],
  ] as const) {
    const { applier, told } = journalApplier()
    applyParts(applier, parts, 3)
    assert.deepEqual(seen(told), [], `parts ${parts}`)
    applyParts(applier, [0, 1, 2, 3], 3)
    assert.deepEqual(seen(told), ['1/1 = 1: a long command'], `parts ${parts}`)
  }
})

test('part 0 begins again, and a whole command needs no parts', () => {
  const again = journalApplier()
  applyParts(again.applier, [0, 1, 0, 1, 2, 3], 3)
  assert.deepEqual(seen(again.told), ['1/1 = 1: a long command'])
  const whole = journalApplier()
  applyParts(whole.applier, [0, 1], 3)
  applyCommand(whole.applier, { session: 1, sequence: 1 }, { command: 'whole' })
  applyParts(whole.applier, [2, 3], 3)
  assert.deepEqual(seen(whole.told), ['1/1 = 1: whole', '1/1 = 1: whole'])
})

test('fragments of commands that will not be applied are not kept, nor those of expired sessions', () => {
  const lengthOf = (applier: TestApplier) => takeSnapshot(applier)[0]!.length
  const { applier } = journalApplier()
  applyCommand(applier, { session: 1, sequence: 1 })
  const before = lengthOf(applier)
  for (const name of [
    { session: 1, sequence: 1 },
    { session: 2, sequence: 2 },
  ])
    applyNext(applier, (writer) => writer.fragment({ ...name, part: 0 }, encoded('x')))
  assert.equal(lengthOf(applier), before)
  applyNext(applier, (writer) => writer.fragment({ session: 1, sequence: 2, part: 0 }, encoded('x')))
  assert.ok(lengthOf(applier) > before)
  applyNext(applier, () => {}, { timeMs: 1000 })
  const empty = journalApplier().applier
  applyNext(empty, () => {})
  assert.equal(lengthOf(applier), lengthOf(empty))
})

test('configurations are handed on as they are', () => {
  const seenBytes: string[] = []
  const { applier } = journalApplier({ onConfiguration: (text) => seenBytes.push(Buffer.from(text).toString()) })
  applyNext(applier, (writer) => writer.configuration(Buffer.from('{"members":[]}')))
  assert.deepEqual(seenBytes, ['{"members":[]}'])
})

test('after a callback has thrown, the applier refuses to go on with half an entry', () => {
  const { applier } = journalApplier({
    onAnswer: () => {
      throw new Error('from the callback')
    },
  })
  assert.throws(() => applyCommand(applier, { session: 1, sequence: 1 }), /from the callback/)
  assert.throws(() => applyNext(applier, () => {}), isDefect)
  assert.throws(() => takeSnapshot(applier), isDefect)
})

test('a machine cannot take a snapshot or apply an entry in the middle of one', () => {
  const failures: unknown[] = []
  const { applier } = journalApplier({
    onAnswer: () => {
      for (const act of [() => takeSnapshot(applier), () => applyNext(applier, () => {})])
        try {
          act()
        } catch (error) {
          failures.push((error as ConsensusError).code)
        }
    },
  })
  applyCommand(applier, { session: 1, sequence: 1 })
  assert.deepEqual(failures, ['ERR_AETHER_DEFECT', 'ERR_AETHER_DEFECT'])
})

test('the hash follows answers, errors and their order, and never comes together again', () => {
  const hashOf = (texts: readonly (string | Command)[]) => {
    const { applier } = journalApplier()
    for (const [index, command] of texts.entries())
      applyCommand(applier, { session: 1, sequence: index + 1 }, { command })
    assert.match(applier.hash.value, /^[0-9a-f]{16}$/)
    assert.equal(applier.hash.index, texts.length)
    return applier.hash.value
  }
  const lists = [[], ['a'], ['b'], ['a', 'b'], ['b', 'a'], [{ text: 'a', throw: true }], ['', ''], ['']]
  const longer = lists.map((list) => [...list, 'z', 'z'])
  const hashes = [...lists, ...longer].map(hashOf)
  assert.equal(new Set(hashes).size, hashes.length)
  assert.deepEqual([...lists, ...longer].map(hashOf), hashes)
})

test('the hash follows what answers are, not how the engine keeps them', () => {
  // What `map` returns is kept in one way before the engine has optimized its caller, and in another one after.
  const [dense, sparse] = [[1, 'a'], new Array<unknown>(2)]
  sparse[0] = 1
  sparse[1] = 'a'
  assert.notDeepEqual(structured.encode(dense).slice(), structured.encode(sparse).slice())
  const [itself, other]: unknown[][] = [[1], [1]]
  itself!.push(itself)
  other!.push(other)
  const different = [
    ...[[1, 2], [1, undefined], [1], [1, '2'], [[1, 2]], new Set([1, 2]), new Map([[1, 2]]), { 0: 1, 1: 2 }, {}],
    ...[{ a: 1 }, { b: 1 }, { a: 2 }, { a: 1n }, null, new Date(1), new Date(2), /a/, /b/, new RangeError('a'), itself],
    ...[Uint8Array.of(1), Int8Array.of(1), Uint8Array.of(1).buffer, new Array(2), [Uint8Array.of(1)]],
  ]
  const hashOf = (answer: unknown) => {
    const { applier, journal } = journalApplier({ answerCodec: structured as Codec<string> })
    journal.apply = () => answer as string
    applyCommand(applier, { session: 1, sequence: 1 })
    return applier.hash.value
  }
  assert.equal(hashOf(dense), hashOf(sparse))
  assert.equal(hashOf(itself), hashOf(other))
  assert.equal(hashOf({ a: 'xyz' }), hashOf({ a: '\u2028xyz'.slice(1) }))
  assert.equal(new Set(different.map(hashOf)).size, different.length)
})

test('the hash does not depend on how commands are put into entries', () => {
  const one = journalApplier()
  const two = journalApplier()
  for (const sequence of [1, 2]) applyCommand(one.applier, { session: 1, sequence }, { command: 'x' })
  applyNext(two.applier, (writer) => {
    for (const sequence of [1, 2]) writer.command({ session: 1, sequence, acknowledged: 0 }, encoded('x'))
  })
  assert.equal(one.applier.hash.value, two.applier.hash.value)
})

test('a machine that is not deterministic is found at a common index', () => {
  const replicas = [0, 1].map((replica) => {
    const { applier, journal } = journalApplier({ hashEvery: 4 })
    const apply = journal.apply.bind(journal)
    journal.apply = (command, context) =>
      apply(context.index === 6 && replica === 1 ? { text: 'random' } : command, context)
    for (let sequence = 1; sequence <= 300; sequence += 1) applyCommand(applier, { session: 1, sequence })
    return applier.hashes
  })
  assert.deepEqual(
    replicas.map((hashes) => [...hashes.keys()]),
    [0, 1].map(() => Array.from({ length: 64 }, (_, at) => 300 - 63 * 4 + at * 4)),
  )
  for (const [index, value] of replicas[0]!) assert.notEqual(value, replicas[1]!.get(index))
})

test('changes are kept as they were, with answers and errors', () => {
  const { applier } = journalApplier()
  applyCommand(applier, { session: 1, sequence: 1 }, { command: 'a', timeMs: 5, term: 2 })
  applyCommand(applier, { session: 1, sequence: 2 }, { command: { text: 'b', throw: true }, timeMs: 6, term: 2 })
  const [first, second] = applier.changesFrom(1)
  assert.deepEqual(first, { index: 1, timeMs: 5, term: 2, command: { text: 'a' }, answer: '1: a' })
  const { error, ...rest } = second!
  assert.deepEqual(rest, { index: 2, timeMs: 6, term: 2, command: { text: 'b', throw: true } })
  assert.deepEqual([error?.name, error?.message], ['RangeError', 'b'])
  assert.deepEqual(applier.changesFrom(3), [])
  assert.deepEqual(applier.changesFrom(9), [])
})

test('only the last changes are kept; the error names the first of them', () => {
  for (const changesKept of [0, 1, 5]) {
    const { applier } = journalApplier({ changesKept })
    for (let sequence = 1; sequence <= 12; sequence += 1) {
      applyCommand(applier, { session: 1, sequence })
      const first = Math.max(1, sequence - changesKept + 1)
      assert.throws(() => applier.changesFrom(first - 1), { code: 'ERR_AETHER_CONSENSUS_CHANGES_GONE', first })
      assert.deepEqual(
        applier.changesFrom(first).map(({ index }) => index),
        Array.from({ length: sequence - first + 1 }, (_, at) => first + at),
      )
    }
  }
})
