import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { AcceptedEntry } from '../../../src/consensus/replica/cell.ts'
import { foundingConfiguration } from '../../../src/consensus/replica/configuration.ts'
import { DurableState } from '../../../src/consensus/replica/durable-state.ts'
import type { Journal, Recovered } from '../../../src/consensus/replica/journal.ts'
import { LogHistory } from '../../../src/consensus/replica/log-history.ts'
import type { ReplicaMemory } from '../../../src/consensus/replica/replica-memory.ts'

const payload = new Uint8Array(1000 - 48)
const entry = (index: number): AcceptedEntry => ({
  ...{ index, term: 1024, timeMs: 0, flags: 0, acceptedIn: 1024, decided: index, payload },
})
const journal: Journal = { promise: () => {}, append: () => {}, snapshot: () => {}, flush: () => {} }
const memory = { promise: 1024, accepted: () => undefined } as unknown as ReplicaMemory

/** A journal that held some entries, of 1000 bytes each. */
function journalOf(count: number): { readonly state: DurableState; readonly history: LogHistory } {
  const entries = Array.from({ length: count }, (_, at) => entry(at + 1))
  const recovered: Recovered = { promise: 1024, decided: count, snapshot: undefined, entries }
  return { state: new DurableState(journal, memory, recovered), history: new LogHistory(count, 1e9) }
}

function append({ state, history }: ReturnType<typeof journalOf>, count: number): void {
  for (let left = count; left > 0; left -= 1) history.push(entry(history.last + 1))
  state.record(history)
}

test('a journal is long when as much was recorded since its snapshot', () => {
  const opened = journalOf(0)
  append(opened, 99)
  assert.equal(opened.state.isLong(100_000), false)
  append(opened, 1)
  assert.equal(opened.state.isLong(100_000), true)
  const configuration = foundingConfiguration([1])
  opened.state.snapshot({ index: 100, term: 1024, configuration }, [], 100)
  assert.equal(opened.state.isLong(100_000), false)
})

test('one that was long when it was opened gets a snapshot a while later, and one that was very long at once', () => {
  const opened = journalOf(120)
  assert.equal(opened.state.isLong(100_000), false)
  append(opened, 24)
  assert.equal(opened.state.isLong(100_000), false)
  append(opened, 1)
  assert.equal(opened.state.isLong(100_000), true)
  assert.equal(journalOf(399).state.isLong(100_000), false)
  assert.equal(journalOf(400).state.isLong(100_000), true)
})

test('what was decided and recorded is not recorded again for another term: it may be dropped before its disk has it', () => {
  const recorded: number[] = []
  const slow: Journal = { ...journal, append: ({ index }) => recorded.push(index) }
  const acceptor = { promise: 1024, accepted: () => undefined }
  const state = new DurableState(slow, acceptor as unknown as ReplicaMemory, {
    ...{ promise: 1024, decided: 0, snapshot: undefined, entries: [] },
  })
  const history = new LogHistory(0, 5000)
  for (let count = 0; count < 20; count += 1) append({ state, history }, 1)
  assert.ok(history.base > 0)
  acceptor.promise = 2048
  append({ state, history }, 1)
  assert.deepEqual(
    recorded,
    Array.from({ length: 21 }, (_, at) => at + 1),
  )
  assert.equal(state.synced(22), true)
  assert.deepEqual({ term: state.term, index: state.index }, { term: 2048, index: 21 })
})
