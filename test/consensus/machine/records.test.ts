import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import { ConsensusError } from '../../../src/consensus/errors.ts'
import {
  COMMAND_HEAD_BYTES,
  FRAGMENT_HEAD_BYTES,
  RecordKind,
  RecordReader,
  RecordWriter,
} from '../../../src/consensus/machine/records.ts'
import { Random } from '../../../src/runtime/index.ts'
import { payloadOf } from './journal.ts'

const U32_MAX = 2 ** 32 - 1
const U48_MAX = 2 ** 48 - 1

/** All that is in a payload, as plain objects. */
function recordsIn(payload: Uint8Array): object[] {
  const found: object[] = []
  for (const record = new RecordReader(payload); record.next(); ) {
    const { kind, session, sequence, acknowledged, part, parts, term, leader } = allOf(record)
    const bytes = Buffer.from(record.bytes).toString()
    if (kind === RecordKind.Begin) found.push({ kind, term, leader })
    if (kind === RecordKind.Command) found.push({ kind, session, sequence, acknowledged, parts, bytes })
    if (kind === RecordKind.Fragment) found.push({ kind, session, sequence, part, bytes })
    if (kind === RecordKind.Configuration) found.push({ kind, bytes })
  }
  return found
}

/** Fields of other kinds may lie behind the end of the payload. */
function allOf(record: RecordReader): Partial<Record<keyof RecordReader, number>> {
  const fields = ['kind', 'session', 'sequence', 'acknowledged', 'part', 'parts', 'term', 'leader'] as const
  const read = (field: (typeof fields)[number]) => {
    try {
      return record[field]
    } catch {
      return undefined
    }
  }
  return Object.fromEntries(fields.map((field) => [field, read(field)]))
}

const oneOfEach = payloadOf((writer) => {
  writer.begin({ term: U32_MAX, leader: U48_MAX })
  writer.command({ session: U48_MAX, sequence: U32_MAX, acknowledged: U32_MAX - 1, parts: 7 }, Buffer.from('command'))
  writer.fragment({ session: 1, sequence: 2, part: 3 }, Buffer.from('fragment'))
  writer.configuration(Buffer.from('{}'))
  writer.command({ session: 2 ** 32, sequence: 1, acknowledged: 0 }, Buffer.alloc(0))
})

test('what was written is read, in order, with the largest numbers and without bytes', () => {
  assert.deepEqual(recordsIn(oneOfEach), [
    { kind: RecordKind.Begin, term: U32_MAX, leader: U48_MAX },
    {
      kind: RecordKind.Command,
      session: U48_MAX,
      sequence: U32_MAX,
      acknowledged: U32_MAX - 1,
      parts: 7,
      bytes: 'command',
    },
    { kind: RecordKind.Fragment, session: 1, sequence: 2, part: 3, bytes: 'fragment' },
    { kind: RecordKind.Configuration, bytes: '{}' },
    { kind: RecordKind.Command, session: 2 ** 32, sequence: 1, acknowledged: 0, parts: 0, bytes: '' },
  ])
  assert.deepEqual(recordsIn(new Uint8Array()), [])
})

test('the layout is the one that is drawn', () => {
  const payload = payloadOf((writer) =>
    writer.command({ session: 0x0102_0304_0506, sequence: 0x11, acknowledged: 0x10, parts: 1 }, Buffer.from([0xff])),
  )
  assert.equal(Buffer.from(payload).toString('hex'), '1400000002060504030201110000001000000001000000ff')
})

test('the heads of commands and fragments have the lengths that are exported', () => {
  const bytes = Buffer.alloc(100)
  const command = payloadOf((writer) => writer.command({ session: 1, sequence: 1, acknowledged: 0 }, bytes))
  const fragment = payloadOf((writer) => writer.fragment({ session: 1, sequence: 1, part: 0 }, bytes))
  assert.equal(command.length, COMMAND_HEAD_BYTES + bytes.length)
  assert.equal(fragment.length, FRAGMENT_HEAD_BYTES + bytes.length)
})

test('a payload may lie anywhere in memory', () => {
  const memory = Buffer.alloc(oneOfEach.length + 9)
  memory.set(oneOfEach, 3)
  assert.deepEqual(recordsIn(memory.subarray(3, 3 + oneOfEach.length)), recordsIn(oneOfEach))
})

test('a writer is used again, and grows over its first buffer at any place', () => {
  const writer = new RecordWriter()
  for (let length = 900; length < 1100; length += 1) {
    writer.reset()
    assert.equal(writer.lengthBytes, 0)
    writer.configuration(Buffer.alloc(length, 'x'))
    writer.begin({ term: 5, leader: 6 })
    assert.equal(writer.lengthBytes, writer.bytes().length)
    const [, begin] = recordsIn(writer.bytes())
    assert.deepEqual(begin, { kind: RecordKind.Begin, term: 5, leader: 6 })
  }
})

test('a command that acknowledges its own answer is not written', () => {
  const writer = new RecordWriter()
  assert.throws(() => writer.command({ session: 1, sequence: 3, acknowledged: 3 }, Buffer.alloc(0)), {
    code: 'ERR_AETHER_DEFECT',
  })
  assert.equal(writer.lengthBytes, 0)
})

function isRecordError(error: unknown): boolean {
  return (
    error instanceof ConsensusError &&
    error.code === 'ERR_AETHER_CONSENSUS_RECORD' &&
    error.message.includes(`at byte ${error.offset} `)
  )
}

test('malformed records are refused with the byte where they begin', () => {
  const good = payloadOf((writer) => writer.command({ session: 1, sequence: 2, acknowledged: 1 }, Buffer.alloc(0)))
  for (const [what, at, ...put] of [
    ['a length over the end', 0, 0, 0, 1, 0],
    ['a length below its head', 0, 18],
    ['no length at all', 0, 0],
    ['an unknown kind', 4, 5],
    ['kind 0', 4, 0],
    ['a Begin that is too long', 4, RecordKind.Begin],
    ['a sequence of 0', 11, 0],
    ['its own answer acknowledged', 15, 2],
  ] as const) {
    const bytes = Buffer.from(good)
    bytes.set(put, at)
    for (const before of [Buffer.alloc(0), good])
      assert.throws(
        () => new RecordReader(Buffer.concat([before, bytes])),
        (error) => isRecordError(error) && (error as ConsensusError).offset === before.length,
        what,
      )
  }
})

test('a payload that is cut off anywhere but between records is refused', () => {
  const ends = new Set([0])
  for (const end of ends) if (end < oneOfEach.length) ends.add(end + 4 + Buffer.from(oneOfEach).readUInt32LE(end))
  for (let length = 0; length < oneOfEach.length; length += 1) {
    const cut = oneOfEach.subarray(0, length)
    if (ends.has(length)) recordsIn(cut)
    else assert.throws(() => new RecordReader(cut), isRecordError, `${length} bytes`)
  }
})

test('any bytes are read or refused with the typed error', () => {
  const random = new Random(1)
  for (let round = 0; round < 20_000; round += 1) {
    const bytes = Buffer.from(oneOfEach)
    for (let change = random.below(4); change >= 0; change -= 1) bytes[random.below(bytes.length)] = random.below(256)
    try {
      recordsIn(bytes)
    } catch (error) {
      assert.ok(isRecordError(error), `round ${round}: ${error}`)
    }
  }
})
