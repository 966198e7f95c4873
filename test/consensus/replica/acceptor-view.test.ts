import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type AcceptorsLeader, AcceptorView } from '../../../src/consensus/replica/acceptor-view.ts'
import type { Entry } from '../../../src/consensus/replica/cell.ts'
import { HeadWord, ReplicaLayout } from '../../../src/consensus/replica/layout.ts'
import { LogHistory } from '../../../src/consensus/replica/log-history.ts'
import type { ReplicaLink } from '../../../src/consensus/replica/replica-link.ts'
import { defaultSettings } from '../../../src/consensus/replica/settings.ts'
import { packWord } from '../../../src/consensus/replica/slot-word.ts'

const OWN_FRAME = 3
const TERM = 4097
const layout = new ReplicaLayout({ ...defaultSettings, window: 8, cellBytes: 256 })

/** A connection to a memory of words. Compare-and-swaps take effect at once; what they answer comes when asked for. */
class HeldLink {
  readonly isUp = true
  readonly written: number[] = []
  readonly #memory: Uint8Array
  readonly #words: DataView
  readonly #answers: (() => void)[] = []

  constructor(memory: Uint8Array) {
    this.#memory = memory
    this.#words = new DataView(memory.buffer)
  }

  read(offset: number, length: number, done: (bytes: Uint8Array) => void): void {
    done(this.#memory.slice(offset, offset + length))
  }

  write(_bytes: Uint8Array, offset: number): void {
    this.written.push(offset)
  }

  writeWord(): void {
    return
  }

  store(word: bigint, offset: number, done: () => void): void {
    this.#words.setBigUint64(offset, word, true)
    this.#answers.push(done)
  }

  compareSwap(offset: number, expected: bigint, next: bigint, done: (before: bigint) => void): void {
    const before = this.#words.getBigUint64(offset, true)
    if (before === expected) this.#words.setBigUint64(offset, next, true)
    this.#answers.push(() => done(before))
  }

  answer(): boolean {
    const next = this.#answers.shift()
    next?.()
    return next !== undefined
  }
}

test('a value that a word names is never overwritten, though several stores fail at a time', () => {
  const memory = new Uint8Array(layout.headBytes)
  const words = new DataView(memory.buffer)
  const held = packWord(1025, 0, OWN_FRAME, 0)
  for (const index of [1, 2, 3]) words.setBigUint64(layout.slot(index), held, true)
  const history = new LogHistory(0, 1e6)
  for (const index of [1, 2, 3])
    history.push({ index, term: 1, timeMs: 1, flags: 0, payload: new Uint8Array(8) } satisfies Entry)
  const link = new HeldLink(memory)
  const leader: AcceptorsLeader = {
    ...{ term: TERM, layout, ahead: 4, history, isDurable: false },
    open: () => undefined,
    deposed: (seen) => assert.fail(`deposed by ${seen}`),
    yieldsTo: () => assert.fail('behind'),
    progressed: () => view.pump(),
    needsSnapshot: () => assert.fail('it lacks nothing'),
    ask: () => assert.fail('no one is asked'),
  }
  const view = new AcceptorView(2, link as unknown as ReplicaLink, OWN_FRAME, leader, true)
  view.begin()
  // Another leader, of a lower term, promises the slots after they were read.
  const promised = packWord(2049, 0, OWN_FRAME, 0)
  for (const index of [1, 2, 3]) words.setBigUint64(layout.slot(index), promised, true)
  while (link.answer());
  assert.equal(Number(words.getBigUint64(HeadWord.Promise, true)), TERM)
  assert.equal(view.stored, 3)
  const named = [1, 2, 3].map((index) => layout.cell(OWN_FRAME, 0, index))
  assert.deepEqual(
    link.written.filter((offset) => named.includes(offset)),
    [],
  )
})

/** A leader whose newest decided entry is `last`, and an acceptor that has taken `taken`; its slots are unused. */
function beside(last: number, taken: number, isDurable: boolean, votes = true) {
  const memory = new Uint8Array(layout.headBytes)
  new DataView(memory.buffer).setBigUint64(HeadWord.Taken, BigInt(taken), true)
  const history = new LogHistory(last, 1e6)
  const link = new HeldLink(memory)
  const seen = { behind: 0 }
  const open = new Map<number, Entry>()
  const leader: AcceptorsLeader = {
    ...{ term: TERM, layout, ahead: 4, history, isDurable },
    open: (index) => open.get(index),
    deposed: (term) => assert.fail(`deposed by ${term}`),
    yieldsTo: () => {
      seen.behind += 1
      return votes
    },
    progressed: () => view.pump(),
    needsSnapshot: () => assert.fail('it lacks nothing'),
    ask: () => assert.fail('no one is asked'),
  }
  const view = new AcceptorView(2, link as unknown as ReplicaLink, OWN_FRAME, leader, true)
  view.begin()
  while (link.answer());
  return { view, link, seen, open }
}

test('an acceptor that has an entry by a snapshot alone does not count as one that has accepted nothing', () => {
  const { view, seen } = beside(10, 12, false)
  assert.ok(seen.behind > 0)
  assert.equal(view.prepared, 10)
  assert.equal(beside(10, 10, false).seen.behind, 0)
})

test('one that does not vote keeps no one from leading: its entries are those of a majority of the voters', () => {
  const { view } = beside(10, 12, false, false)
  assert.equal(view.prepared, 14)
})

test('with journals an acceptor counts for what it has reported of this term', () => {
  const { view, link, open } = beside(0, 0, true)
  assert.equal(view.isHeld, false)
  view.reported(TERM - 1, 5)
  assert.equal(view.isHeld, false)
  view.reported(TERM, 0)
  assert.equal(view.isHeld, true)
  for (const index of [1, 2]) open.set(index, { index, term: TERM, timeMs: 1, flags: 0, payload: new Uint8Array(8) })
  while (link.answer());
  view.pump()
  while (link.answer());
  assert.deepEqual([view.stored, view.counted], [2, 0])
  view.reported(TERM, 1)
  assert.equal(view.counted, 1)
  // What is reported may be more than what this leader knows to be stored.
  view.reported(TERM, 7)
  assert.equal(view.counted, 2)
})

test('by rights nothing is written before it is granted, and slots are as they are then', () => {
  const memory = new Uint8Array(layout.headBytes)
  const words = new DataView(memory.buffer)
  words.setBigUint64(HeadWord.ByRights, 1n, true)
  const link = new HeldLink(memory)
  const entry: Entry = { index: 1, term: TERM, timeMs: 1, flags: 0, payload: new Uint8Array(8) }
  let asked = 0
  const leader: AcceptorsLeader = {
    ...{ term: TERM, layout, ahead: 4, history: new LogHistory(0, 1e6), isDurable: false },
    open: (index) => (index === 1 ? entry : undefined),
    deposed: (seen) => assert.fail(`deposed by ${seen}`),
    yieldsTo: () => assert.fail('behind'),
    progressed: () => view.pump(),
    needsSnapshot: () => assert.fail('it lacks nothing'),
    ask: () => {
      asked += 1
    },
  }
  const view = new AcceptorView(2, link as unknown as ReplicaLink, OWN_FRAME, leader, true)
  view.granted()
  view.begin()
  while (link.answer());
  view.pump()
  assert.deepEqual([asked, view.isHeld, view.prepared, link.written], [1, false, 0, []])
  // What is lost is asked for again, until it was answered.
  view.askAgain()
  assert.equal(asked, 2)
  // Until then the leader before this one goes on.
  words.setBigUint64(layout.slot(2), packWord(TERM - 1024, 0, OWN_FRAME + 1, 1), true)
  view.granted()
  view.askAgain()
  assert.deepEqual([asked, view.isHeld, view.prepared], [2, true, layout.window])
  assert.deepEqual([...view.accepted], [[2, { frame: OWN_FRAME + 1, bank: 1 }]])
  while (link.answer());
  assert.equal(view.stored, 1)
  assert.equal(words.getBigUint64(layout.slot(1), true), packWord(TERM, 0, OWN_FRAME, 0))
})
