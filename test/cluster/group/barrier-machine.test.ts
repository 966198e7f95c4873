import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BarrierMachine } from '../../../src/cluster/group/barrier-machine.ts'
import { BarrierWord, newBarrierWords } from '../../../src/cluster/group/barrier-words.ts'
import { Random } from '../../../src/runtime/index.ts'

/** Machines of some ranks with a channel in order between each two, delivered when the test says so. */
class Ranks {
  readonly words: Int32Array[]
  readonly machines: BarrierMachine[]
  readonly channels = new Map<string, Uint8Array[]>()
  readonly size: number

  constructor(size: number) {
    this.size = size
    this.words = Array.from({ length: size }, () => new Int32Array(newBarrierWords(size)))
    this.machines = this.words.map(
      (words, rank) =>
        new BarrierMachine({ rank, size, words, send: (to, bytes) => this.channel(rank, to).push(bytes.slice()) }),
    )
  }

  channel(from: number, to: number): Uint8Array[] {
    const key = `${from}-${to}`
    const known = this.channels.get(key) ?? []
    this.channels.set(key, known)
    return known
  }

  enter(rank: number): void {
    Atomics.add(this.words[rank]!, BarrierWord.Entered, 1)
    this.machines[rank]!.turn()
  }

  deliver(from: number, to: number): boolean {
    const bytes = this.channel(from, to).shift()
    if (bytes !== undefined) this.machines[to]!.receive(from, bytes)
    return bytes !== undefined
  }

  settle(): void {
    for (let any = true; any; ) {
      any = false
      for (let from = 0; from < this.size; from += 1)
        for (let to = 0; to < this.size; to += 1) any = this.deliver(from, to) || any
    }
  }

  word(rank: number, word: number): number {
    return this.words[rank]![word]!
  }
}

test('nobody is released before all have arrived, in any order of messages', () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const random = new Random(seed)
    const ranks = new Ranks(seed % 4 === 0 ? 10 + random.below(70) : 1 + random.below(5))
    const entered = new Array<number>(ranks.size).fill(0)
    for (let step = 0; step < 40 * ranks.size; step += 1) {
      const [from, to] = [random.below(ranks.size), random.below(ranks.size)]
      if (random.below(3) > 0) ranks.deliver(from, to)
      else if (ranks.word(to, BarrierWord.Released) === entered[to]) {
        entered[to]! += 1
        ranks.enter(to)
      }
      for (let rank = 0; rank < ranks.size; rank += 1)
        assert.ok(ranks.word(rank, BarrierWord.Released) <= Math.min(...entered), `seed ${seed}`)
    }
    ranks.settle()
    for (let rank = 0; rank < ranks.size; rank += 1)
      assert.equal(ranks.word(rank, BarrierWord.Released), Math.min(...entered), `seed ${seed}`)
  }
})

test('who is missing is told to whoever asks', () => {
  const ranks = new Ranks(4)
  for (const rank of [0, 2]) ranks.enter(rank)
  for (const asker of [2, 0]) {
    Atomics.add(ranks.words[asker]!, BarrierWord.Question, 1)
    ranks.machines[asker]!.turn()
    ranks.settle()
    assert.equal(ranks.word(asker, BarrierWord.Answer), 1)
    assert.equal(ranks.word(asker, BarrierWord.Missing), 0b1010)
  }
})

test('a member that ended fails every rank, and whose news comes first does not matter', () => {
  const ranks = new Ranks(3)
  for (const rank of [0, 1]) ranks.enter(rank)
  ranks.settle()
  for (const rank of [1, 0]) ranks.machines[rank]!.memberDied(2)
  ranks.settle()
  for (const rank of [0, 1]) assert.equal(ranks.word(rank, BarrierWord.Failed), 3)
})

test('a member that died after the last barrier does not fail it for a rank that was released but has not heard of it', () => {
  const ranks = new Ranks(3)
  for (const rank of [0, 1, 2]) ranks.enter(rank)
  while (ranks.deliver(1, 0) || ranks.deliver(2, 0));
  ranks.deliver(0, 1)
  assert.equal(ranks.word(1, BarrierWord.Released), 1)
  // Rank 1 goes on and dies, and rank 2 sees that before it hears of its release.
  for (const rank of [2, 0]) ranks.machines[rank]!.memberDied(1)
  assert.equal(ranks.word(2, BarrierWord.Failed), 0)
  ranks.deliver(0, 2)
  assert.deepEqual([ranks.word(2, BarrierWord.Released), ranks.word(2, BarrierWord.Failed)], [1, 0])
  ranks.settle()
  assert.deepEqual([ranks.word(2, BarrierWord.Failed), ranks.word(2, BarrierWord.Possible)], [2, 1])
})

test('without rank 0 no barrier ends, whoever hears of it', () => {
  const ranks = new Ranks(3)
  for (const rank of [1, 2]) ranks.machines[rank]!.memberDied(0)
  for (const rank of [1, 2]) assert.equal(ranks.word(rank, BarrierWord.Failed), 1)
})

test('bytes that are no message of a barrier are said to be none, and change nothing', () => {
  const ranks = new Ranks(12)
  const message = (kind: number, generation: number, argument: number, length = 12): Uint8Array => {
    const bytes = new Uint8Array(length)
    bytes[1] = kind
    const view = new DataView(bytes.buffer)
    if (length >= 12) view.setInt32(4, generation, true)
    if (length >= 12) view.setInt32(8, argument, true)
    return bytes
  }
  const refused: [to: number, from: number, bytes: Uint8Array][] = [
    [0, 1, message(1, 1, 0, 7)],
    [0, 1, message(1, 1, 0, 13)],
    [0, 1, message(9, 1, 0)],
    // Arrivals come from a child, releases from the parent, deaths from the root, and of ranks that there are.
    [0, 9, message(1, 1, 0)],
    [9, 0, message(2, 1, 0)],
    [1, 9, message(2, 1, 0)],
    [1, 2, message(5, 0, 3)],
    [1, 0, message(5, 0, 12)],
    [1, 0, message(5, 0, -1)],
  ]
  for (const [to, from, bytes] of refused) {
    const before = [...ranks.words[to]!]
    assert.equal(ranks.machines[to]!.receive(from, bytes), false)
    assert.deepEqual([...ranks.words[to]!], before)
  }
})

test('a rank that does not even answer is missing, with those that answer that they have not come', () => {
  const ranks = new Ranks(12)
  for (const rank of [2, 3, 9]) ranks.enter(rank)
  Atomics.add(ranks.words[9]!, BarrierWord.Question, 1)
  ranks.machines[9]!.turn()
  // Rank 3 is stopped: nothing reaches it.
  for (let rank = 0; rank < 12; rank += 1) if (rank !== 3) ranks.deliver(9, rank)
  for (let rank = 0; rank < 12; rank += 1) ranks.deliver(rank, 9)
  assert.equal(ranks.word(9, BarrierWord.Answer), 0)
  assert.equal(ranks.word(9, BarrierWord.Missing), 0b1111_1111_1111 & ~(1 << 2) & ~(1 << 9))
})

test('an answer to an older question counts for nothing', () => {
  const ranks = new Ranks(2)
  for (let question = 1; question <= 2; question += 1) {
    Atomics.add(ranks.words[0]!, BarrierWord.Question, 1)
    ranks.machines[0]!.turn()
  }
  ranks.deliver(0, 1)
  ranks.deliver(1, 0)
  assert.equal(ranks.word(0, BarrierWord.Answer), 0)
  ranks.settle()
  assert.equal(ranks.word(0, BarrierWord.Answer), 2)
})

test('the death of a rank half way down the tree keeps from nobody below it that the last barrier has ended', () => {
  const ranks = new Ranks(12)
  for (let rank = 0; rank < 12; rank += 1) ranks.enter(rank)
  for (const leaf of [9, 10, 11]) ranks.deliver(leaf, 1)
  for (let child = 1; child <= 8; child += 1) ranks.deliver(child, 0)
  assert.equal(ranks.word(0, BarrierWord.Released), 1)
  // Rank 1 dies before it has passed the release on.
  for (let rank = 0; rank < 12; rank += 1) if (rank !== 1) ranks.machines[rank]!.memberDied(1)
  ranks.channel(0, 1).length = 0
  ranks.settle()
  for (let rank = 0; rank < 12; rank += 1) {
    if (rank === 1) continue
    assert.deepEqual([ranks.word(rank, BarrierWord.Released), ranks.word(rank, BarrierWord.Possible)], [1, 1])
    assert.equal(ranks.word(rank, BarrierWord.Failed), 2)
  }
})

test('after a death no barrier ends any more, not even for some', () => {
  const ranks = new Ranks(3)
  ranks.enter(2)
  ranks.settle()
  for (const rank of [0, 1]) ranks.machines[rank]!.memberDied(2)
  for (const rank of [0, 1]) ranks.enter(rank)
  ranks.settle()
  for (const rank of [0, 1]) assert.equal(ranks.word(rank, BarrierWord.Released), 0)
})
