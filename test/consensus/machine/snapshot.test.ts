import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { bytes, json } from '../../../src/codecs/index.ts'
import type { ConsensusError } from '../../../src/consensus/errors.ts'
import { Applier } from '../../../src/consensus/machine/applier.ts'
import { restoreSnapshot, takeSnapshot } from '../../../src/consensus/machine/snapshot.ts'
import { Random } from '../../../src/runtime/index.ts'
import {
  applyCommand,
  applyNext,
  encoded,
  type Journal,
  journalApplier,
  payloadOf,
  type TestApplier,
} from './journal.ts'

/** Something of everything: sessions with answers, errors and gaps, an unfinished command, a time. */
function applied(): ReturnType<typeof journalApplier> {
  const made = journalApplier()
  const { applier } = made
  applyCommand(applier, { session: 2 ** 48 - 1, sequence: 1 }, { timeMs: 1.5 })
  applyCommand(applier, { session: 5, sequence: 1 }, { command: { text: 'no', throw: true } })
  applyCommand(applier, { session: 5, sequence: 2, acknowledged: 1 })
  applyCommand(applier, { session: 5, sequence: 4, acknowledged: 1 })
  applyNext(applier, (writer) => writer.fragment({ session: 5, sequence: 3, part: 0 }, encoded('split').subarray(0, 3)))
  return made
}

/** Go on with what a restored replica must know: duplicates, a gap, a fragment's rest, expiry. */
function goOn({ applier, journal, told }: ReturnType<typeof journalApplier>): unknown {
  told.length = 0
  for (const sequence of [1, 2, 4]) applyCommand(applier, { session: 5, sequence })
  applyNext(applier, (writer) => {
    const rest = encoded('split').subarray(3)
    writer.command({ session: 5, sequence: 3, acknowledged: 1, parts: 1 }, rest)
  })
  applyCommand(applier, { session: 2 ** 48 - 1, sequence: 2 }, { timeMs: 1001 })
  applyCommand(applier, { session: 2 ** 48 - 1, sequence: 3 }, { timeMs: 2001 })
  return { told, lines: journal.lines, hash: applier.hash }
}

test('a replica that was restored goes on like the one whose snapshot it has', () => {
  const original = applied()
  const chunks = takeSnapshot(original.applier)
  const restored = journalApplier()
  restoreSnapshot(restored.applier, chunks)
  assert.deepEqual(takeSnapshot(restored.applier), chunks)
  assert.deepEqual(restored.applier.hash, original.applier.hash)
  assert.deepEqual(goOn(restored), goOn(original))
  assert.equal(original.told.filter(({ outcome }) => outcome.kind === 'expired').length, 1)
  assert.deepEqual(takeSnapshot(restored.applier), takeSnapshot(original.applier))
})

test('changes of the time before a snapshot are not kept', () => {
  const original = applied()
  const restored = journalApplier()
  applyCommand(restored.applier, { session: 1, sequence: 1 })
  restoreSnapshot(restored.applier, takeSnapshot(original.applier))
  const first = original.journal.lines.length + 1
  assert.throws(() => restored.applier.changesFrom(first - 1), { code: 'ERR_AETHER_CONSENSUS_CHANGES_GONE', first })
  assert.deepEqual(restored.applier.changesFrom(first), [])
  applyCommand(restored.applier, { session: 1, sequence: 1 })
  assert.deepEqual(
    restored.applier.changesFrom(first).map(({ index }) => index),
    [first],
  )
})

/** An applier whose machine is one piece of memory. */
function memoryApplier(chunks: Uint8Array[]): {
  readonly applier: Applier<Uint8Array, unknown>
  readonly seen: Buffer[]
} {
  const seen: Buffer[] = []
  const applier = new Applier<Uint8Array, unknown>({
    machine: {
      apply: () => 0,
      snapshot: () => chunks,
      restore: (restored) => {
        seen.length = 0
        for (const chunk of restored) seen.push(Buffer.from(chunk))
      },
    },
    codec: bytes,
    sessionMs: 1,
    onAnswer: () => {},
  })
  return { applier, seen }
}

test('a machine may give no chunk, an empty one, and one of 100 MiB', () => {
  const large = Buffer.alloc(100 * 2 ** 20, 'much ')
  for (const given of [[], [Buffer.alloc(0)], [Buffer.from('a'), Buffer.alloc(0), large, Buffer.from('b')]]) {
    const chunks = takeSnapshot(memoryApplier(given).applier)
    const { applier, seen } = memoryApplier([])
    restoreSnapshot(applier, chunks)
    assert.equal(seen.length, given.length)
    for (const [index, chunk] of given.entries()) assert.ok(seen[index]!.equals(chunk), `chunk ${index}`)
  }
})

test('a snapshot is of the moment when it was taken, even if the machine gives its own memory', () => {
  const memory = Buffer.from('before')
  const chunks = takeSnapshot(memoryApplier([memory]).applier)
  memory.write('after!')
  const { applier, seen } = memoryApplier([])
  restoreSnapshot(applier, chunks)
  assert.equal(seen[0]!.toString(), 'before')
})

test('chunks that are not bytes are refused', () => {
  assert.throws(() => takeSnapshot(memoryApplier(['text' as never]).applier), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
})

/** Restore what is damaged, and check that nothing was touched. */
function refused(chunks: readonly Uint8Array[], what: string, code = 'ERR_AETHER_CONSENSUS_SNAPSHOT'): void {
  const { applier, journal } = journalApplier()
  applyCommand(applier, { session: 1, sequence: 1 })
  const before = takeSnapshot(applier)
  journal.restore = () => assert.fail(`${what}: the machine was touched`)
  assert.throws(() => restoreSnapshot(applier, chunks), { name: 'ConsensusError', code }, what)
  assert.deepEqual(takeSnapshot(applier), before)
  applyCommand(applier, { session: 1, sequence: 2 })
}

test('each byte that is changed, and each that is missing, is noticed', () => {
  const chunks = takeSnapshot(applied().applier)
  for (const [number, chunk] of chunks.entries())
    for (let at = 0; at < chunk.length; at += 1) {
      for (const change of [0x01, 0x80, 0xff]) {
        const other = Buffer.from(chunk)
        other[at]! ^= change
        refused(chunks.with(number, other), `byte ${at} of chunk ${number}`)
      }
      refused(chunks.with(number, chunk.subarray(0, at)), `chunk ${number} cut at ${at}`)
    }
})

test('chunks that are missing, doubled, swapped or foreign are noticed', () => {
  const chunks = takeSnapshot(applied().applier)
  const other = takeSnapshot(journalApplier().applier)
  assert.ok(chunks.length > 3)
  for (let at = 0; at < chunks.length; at += 1) {
    refused(chunks.toSpliced(at, 1), `without chunk ${at}`)
    refused(chunks.toSpliced(at, 0, chunks[at]!), `chunk ${at} twice`)
    if (at > 0) refused(chunks.toSpliced(at - 1, 2, chunks[at]!, chunks[at - 1]!), `chunks ${at - 1} and ${at} swapped`)
  }
  refused([], 'no chunk')
  refused([...chunks, chunks.at(-1)!], 'one more')
  refused([other[0]!, ...chunks.slice(1)], 'the header of another')
})

/** A header with a right checksum, changed at `at`. */
function withHeader(chunks: readonly Uint8Array[], change: (header: Buffer) => void): Uint8Array[] {
  const header = Buffer.from(chunks[0]!)
  change(header)
  header.writeUInt32LE(crc32(header.subarray(12), crc32(header.subarray(0, 8))), 8)
  return chunks.with(0, header)
}

test('a snapshot of another version, or something else, is refused', () => {
  const chunks = takeSnapshot(applied().applier)
  const version = withHeader(chunks, (header) => header.writeUInt32LE(3, 16))
  refused(version, 'version 3', 'ERR_AETHER_CONSENSUS_SNAPSHOT_VERSION')
  refused(
    withHeader(chunks, (header) => header.write('else', 12)),
    'no magic',
  )
})

test('a header that makes no sense is restored or refused with the typed error', () => {
  const chunks = takeSnapshot(applied().applier)
  const random = new Random(2)
  let refusals = 0
  for (let round = 0; round < 5000; round += 1) {
    const changed = withHeader(chunks, (header) => {
      for (let change = random.below(3); change >= 0; change -= 1)
        header[24 + random.below(header.length - 24)] = random.below(256)
    })
    try {
      restoreSnapshot(journalApplier().applier, changed)
    } catch (error) {
      assert.equal((error as ConsensusError).code, 'ERR_AETHER_CONSENSUS_SNAPSHOT', `round ${round}: ${error}`)
      refusals += 1
    }
  }
  assert.ok(refusals > 500, `${refusals} refusals`)
})

test('a snapshot that is older than what was applied is a defect', () => {
  const { applier } = applied()
  const chunks = takeSnapshot(applier)
  restoreSnapshot(applier, chunks)
  applyNext(applier, () => {})
  assert.throws(() => restoreSnapshot(applier, chunks), { code: 'ERR_AETHER_DEFECT' })
})

test('after a machine has thrown in restore, it is not used any more', () => {
  const { applier, journal }: { applier: TestApplier; journal: Journal } = journalApplier()
  const chunks = takeSnapshot(applied().applier)
  journal.restore = () => {
    throw new Error('no memory')
  }
  assert.throws(() => restoreSnapshot(applier, chunks), /no memory/)
  const payload = payloadOf((writer) => writer.configuration(json.encode({})))
  assert.throws(() => applier.apply({ index: 6, term: 1, timeMs: 0, payload }), { code: 'ERR_AETHER_DEFECT' })
})
