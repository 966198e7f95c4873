import assert from 'node:assert/strict'
import type { ElementArray, ElementKind } from '../../src/collectives/element-kind.ts'
import type { Kernel } from '../../src/collectives/operation.ts'
import type { Exchange, Range, Round, Schedule } from '../../src/collectives/schedule.ts'
import { Random } from '../../src/runtime/index.ts'

/** The memory of one rank. */
export interface RankMemory {
  readonly input: ElementArray
  readonly output: ElementArray
}

interface Half {
  readonly range: Range
  done: number
}

/** One rank in the middle of its schedule. */
class Player {
  readonly #schedule: Schedule
  readonly #buffers: { readonly [name in Range['buffer']]: ElementArray }
  readonly #kernel: Kernel | undefined
  #round = -1
  /** What is under way in this round, by peer. */
  readonly sends: Map<number, Half[]> = new Map()
  readonly receives: Map<number, Half[]> = new Map()

  constructor(schedule: Schedule, memory: RankMemory, kind: ElementKind, kernel: Kernel | undefined) {
    this.#schedule = schedule
    this.#buffers = { ...memory, scratch: kind.allocate(schedule.scratchCount) }
    this.#kernel = kernel
    for (const round of schedule.rounds) this.#check(round)
    this.advance()
  }

  get finished(): boolean {
    return this.#round >= this.#schedule.rounds.length
  }

  /** To the next round whose exchanges are not done. */
  advance(): void {
    while (!this.finished && this.sends.size === 0 && this.receives.size === 0) {
      for (const step of this.#schedule.rounds[this.#round]?.steps ?? []) {
        const from = this.#buffers[step.from.buffer]
        const into = this.#buffers[step.into.buffer]
        assert.equal(step.from.count, step.into.count)
        if (step.kind === 'copy') into.set(this.view(step.from) as never, step.into.offset)
        else this.#kernel!(into, step.into.offset, from, step.from.offset, step.from.count, step.fromFirst)
      }
      this.#round += 1
      for (const { kind, peer, range } of this.#schedule.rounds[this.#round]?.exchanges ?? []) {
        const halves = kind === 'send' ? this.sends : this.receives
        halves.set(peer, [...(halves.get(peer) ?? []), { range, done: 0 }])
      }
    }
  }

  view(range: Range): ElementArray {
    const buffer = this.#buffers[range.buffer]
    assert.ok(range.offset >= 0 && range.offset + range.count <= buffer.length, `${JSON.stringify(range)} lies outside`)
    return buffer.subarray(range.offset, range.offset + range.count)
  }

  /** Nothing that is sent, received or written in a round may overlap what is received in it. */
  #check(round: Round): void {
    const bytesOf = (range: Range) => {
      const view = this.view(range)
      return { memory: view.buffer, from: view.byteOffset, to: view.byteOffset + view.byteLength }
    }
    const placed = round.exchanges.map((exchange: Exchange) => ({ ...exchange, ...bytesOf(exchange.range) }))
    for (const one of placed.filter(({ kind }) => kind === 'receive')) {
      for (const other of placed) {
        const apart = one.memory !== other.memory || one.to <= other.from || other.to <= one.from
        assert.ok(one === other || apart, `${JSON.stringify(one.range)} is used twice in a round`)
      }
    }
  }
}

/**
 * Plays the schedules of all ranks against each other. Nothing is kept on the way: an element moves only when its
 * sender and its receiver are both at it, so what deadlocks without buffers deadlocks here. The order of moves is drawn
 * from the seed.
 */
export function play(
  schedules: readonly Schedule[],
  memories: readonly RankMemory[],
  kind: ElementKind,
  options: { readonly kernel?: Kernel; readonly seed?: number } = {},
): void {
  const random = new Random(options.seed ?? 1)
  const players = schedules.map((schedule, rank) => new Player(schedule, memories[rank]!, kind, options.kernel))
  while (players.some((player) => !player.finished)) {
    const ready: (readonly [number, number])[] = []
    for (const [from, player] of players.entries())
      for (const to of player.sends.keys()) if (players[to]?.receives.has(from)) ready.push([from, to])
    assert.ok(ready.length > 0, 'deadlock: everybody waits for somebody who does not come')
    const [from, to] = ready[random.below(ready.length)]!
    move(players[from]!, players[to]!, from, to, random)
    players[from]!.advance()
    players[to]!.advance()
  }
}

function move(sender: Player, receiver: Player, from: number, to: number, random: Random): void {
  const send = sender.sends.get(to)![0]!
  const receive = receiver.receives.get(from)![0]!
  const most = Math.min(send.range.count - send.done, receive.range.count - receive.done)
  const count = 1 + random.below(most)
  const elements = sender.view(send.range).subarray(send.done, send.done + count)
  receiver.view(receive.range).set(elements as never, receive.done)
  for (const [halves, peer, half] of [
    [sender.sends, to, send],
    [receiver.receives, from, receive],
  ] as const) {
    half.done += count
    if (half.done < half.range.count) continue
    halves.get(peer)!.shift()
    if (halves.get(peer)!.length === 0) halves.delete(peer)
  }
}
