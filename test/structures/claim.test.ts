import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimOn, type HolderWords } from '../../src/structures/claim.ts'
import { HomeMemory } from '../../src/structures/distributed/heap/home-memory.ts'
import * as HoldWord from '../../src/structures/distributed/locks/hold-word.ts'
import { GroupHolds } from '../../src/structures/distributed/locks/holds.ts'
import type { GroupMemory } from '../../src/structures/distributed/memory/group-memory.ts'
import { Bells } from '../../src/structures/distributed/waiting/bells.ts'
import type { Heap } from '../../src/structures/heap/heap.ts'
import { DONE, HeapHolds } from '../../src/structures/heap-holds.ts'
import { EPOCH_MAX, ownerWord } from '../../src/structures/peers.ts'
import type { Bell } from '../../src/structures/waiting/bell.ts'

/** Words as one memory has them, by what they say; and what that memory calls its members. */
interface Layout<Word> {
  readonly empty: readonly Word[]
  readonly done: Word
  /** The words of holds of a member. */
  heldBy(member: number): readonly Word[]
  ended(word: Word): Word
  /** As `member` sees them, when the others that are there are as `isThere` says. */
  wordsOf(member: number, isThere: (member: number, ask: boolean) => boolean): HolderWords<Word>
}

const machine: Layout<number> = {
  empty: [0],
  done: DONE,
  heldBy: (member) => [ownerWord(member, member + 1)],
  ended: () => 0,
  wordsOf(member, isThere) {
    const heap = {
      owner: ownerWord(member, member + 1),
      isHolderThere: (word: number, ask: boolean) => isThere((word >>> 24) - 1, ask),
    }
    return new HeapHolds(heap as unknown as Heap, undefined as unknown as Bell)
  },
}

const tokens = [0n, 1n, 2n ** 31n, 2n ** 32n, 2n ** 47n] as const

const group: Layout<bigint> = {
  empty: tokens.map((token) => token << 16n),
  done: HoldWord.DONE,
  heldBy: (member) => tokens.map((token) => (token << 16n) | BigInt(member + 1)),
  ended: HoldWord.endedHold,
  wordsOf(member, isThere) {
    const remote = { rank: member, ranks: 512, isMember: (rank: number) => isThere(rank, true) }
    const memory = new HomeMemory(remote as unknown as GroupMemory, 0, 'it', new Set(), new Bells())
    return new GroupHolds(memory, memory.bell(0, 'one'))
  },
}

/** Members at the edges of what a word can name. */
const MEMBERS = [0, 1, 31, 32, 127, 128, 253] as const

for (const [name, layout] of [
  ['a machine', machine],
  ['a group', group],
] as const)
  test(`what a claim comes to, for every word of ${name}: whoever may be gone is asked after, and no one else`, () => {
    assertTable(layout as Layout<number | bigint>)
  })

function assertTable<Word>(layout: Layout<Word>): void {
  const asked: (readonly [number, boolean])[] = []
  const ask = (member: number, seen: Word, isThere: boolean, asks: boolean): ReturnType<typeof claimOn<Word>> => {
    asked.length = 0
    const words = layout.wordsOf(member, (...question) => {
      asked.push(question)
      return isThere
    })
    return claimOn(words, seen, asks)
  }
  for (const member of MEMBERS)
    for (const isThere of [false, true])
      for (const asks of [false, true]) {
        for (const seen of layout.empty) {
          const { claim, word } = ask(member, seen, isThere, asks)
          assert.equal(claim, 'free')
          assert.ok(layout.heldBy(member).length === 1 || word !== seen)
          assert.equal(layout.wordsOf(member, () => true).says(word!), 'someone')
          assert.deepEqual(asked, [])
        }
        assert.deepEqual(ask(member, layout.done, isThere, asks), { claim: 'done', word: undefined })
        assert.deepEqual(asked, [])
        for (const other of MEMBERS)
          for (const seen of layout.heldBy(other)) {
            const { claim, word } = ask(member, seen, isThere, asks)
            assert.deepEqual(asked, [[other, layout === (group as unknown) ? true : asks]])
            assert.equal(claim, isThere ? 'held' : 'abandoned')
            assert.equal(word === undefined, isThere)
            if (word === undefined) continue
            ask(member, word, true, true)
            assert.deepEqual(asked, [[member, true]], 'the word names who claimed it')
          }
      }
}

test('a word never names no one or the end for a member, whatever its slot and epoch', () => {
  const words = machine.wordsOf(0, () => true)
  for (let slot = 0; slot < 255; slot += 1)
    for (const epoch of [0, 1, EPOCH_MAX - 1, EPOCH_MAX])
      if (slot < 254 || epoch < EPOCH_MAX) assert.equal(words.says(ownerWord(slot, epoch)), 'someone')
})

test('the word of a group keeps its token when a hold ends, and the next hold raises it', () => {
  for (const token of tokens)
    for (const rank of [0, 1, 511]) {
      const held = HoldWord.nextHold(token << 16n, rank)
      assert.deepEqual([HoldWord.tokenOf(held), HoldWord.rankOf(held)], [Number(token) + 1, rank])
      const ended = HoldWord.endedHold(held)
      assert.deepEqual([HoldWord.tokenOf(ended), HoldWord.rankOf(ended)], [Number(token) + 1, undefined])
    }
  assert.equal(HoldWord.rankOf(HoldWord.DONE), undefined)
})

/** A member between two of its steps. */
type Phase<Word> =
  | { readonly at: 'idle' }
  | { readonly at: 'seen'; readonly seen: Word; readonly word: Word; readonly claim: string }
  | { readonly at: 'holds'; readonly own: Word }
  | { readonly at: 'done' }

interface State<Word> {
  readonly word: Word
  readonly phases: readonly Phase<Word>[]
  readonly dead: readonly boolean[]
  /** The others know that it is dead. */
  readonly known: readonly boolean[]
  /** Holds that each may still have. */
  readonly left: readonly number[]
}

/**
 * All courses of three members that look, swap, end a hold, finish the work and die between any two steps, and hear of
 * a death any time later.
 */
function explore<Word>(layout: Layout<Word>): { readonly states: number; readonly claims: Set<string> } {
  const members = [0, 1, 2]
  const first: State<Word> = {
    word: layout.empty[0]!,
    phases: members.map(() => ({ at: 'idle' })),
    dead: members.map(() => false),
    known: members.map(() => false),
    left: members.map(() => 2),
  }
  const claims = new Set<string>()
  const keyOf = (state: State<Word>): string =>
    JSON.stringify(state, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
  const found = new Set([keyOf(first)])
  for (const open = [first]; open.length > 0; ) {
    const state = open.pop()!
    assertSafe(layout, state)
    for (const next of members.flatMap((member) => stepsOf(layout, state, member, claims))) {
      const key = keyOf(next)
      if (!found.has(key)) open.push(next)
      found.add(key)
    }
  }
  return { states: found.size, claims }
}

/** At most one that lives has it. If none has it, and all deaths are known, it can be had. */
function assertSafe<Word>(layout: Layout<Word>, { word, phases, dead, known }: State<Word>): void {
  const holders = phases.flatMap(({ at }, member) => (at === 'holds' && dead[member] !== true ? [member] : []))
  assert.ok(holders.length <= 1, `${holders.join(' and ')} have it`)
  const isThere = (member: number): boolean => known[member] !== true
  const { claim } = claimOn(layout.wordsOf(9, isThere), word, true)
  if (holders.length === 0 && dead.every((isDead, member) => !isDead || known[member] === true))
    assert.notEqual(claim, 'held')
  if (holders.length > 0) assert.equal(claim, 'held')
}

function stepsOf<Word>(layout: Layout<Word>, state: State<Word>, member: number, claims: Set<string>): State<Word>[] {
  const { word, phases, dead, known, left } = state
  const to = <T>(all: readonly T[], value: T): readonly T[] => all.map((each, at) => (at === member ? value : each))
  if (dead[member] === true) return known[member] === true ? [] : [{ ...state, known: to(known, true) }]
  const died = { ...state, dead: to(dead, true) }
  const phase = phases[member]!
  const enter = (next: Phase<Word>, there: Word = word): State<Word> => ({
    ...state,
    word: there,
    phases: to(phases, next),
  })
  if (phase.at === 'done') return []
  if (phase.at === 'holds') {
    assert.equal(word, phase.own, 'no one takes it from who lives')
    return [died, enter({ at: 'idle' }, layout.ended(phase.own)), enter({ at: 'done' }, layout.done)]
  }
  if (phase.at === 'seen') {
    if (word !== phase.seen) return [died, enter({ at: 'idle' })]
    const isLeft = phases.some((other, at) => dead[at] === true && other.at === 'holds' && other.own === word)
    assert.equal(phase.claim === 'abandoned', isLeft, 'it is said to be abandoned, and was')
    return [died, enter({ at: 'holds', own: phase.word }, phase.word)]
  }
  const isThere = (other: number): boolean => known[other] !== true
  const { claim, word: next } = claimOn(layout.wordsOf(member, isThere), word, true)
  claims.add(claim)
  if (claim === 'done') return [died, enter({ at: 'done' })]
  if (next === undefined || left[member] === 0) return [died]
  const looked = enter({ at: 'seen', seen: word, word: next, claim })
  return [died, { ...looked, left: to(left, left[member]! - 1) }]
}

for (const [name, layout] of [
  ['a machine', machine],
  ['a group', group],
] as const)
  test(`in all courses of three members of ${name} one at a time has it, and what a dead one had can be had`, () => {
    const { states, claims } = explore(layout as Layout<number | bigint>)
    assert.deepEqual([...claims].sort(), ['abandoned', 'done', 'free', 'held'])
    assert.ok(states > 1000, `${states} states`)
  })
