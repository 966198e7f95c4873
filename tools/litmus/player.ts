import type { Board } from './board.ts'
import type { LitmusMemory } from './litmus-memory.ts'
import { codeOf, FIELD_BITS } from './outcome.ts'
import { type Pace, roundsOf } from './pace.ts'
import type { Axis } from './plan.ts'
import type { Operation, Program } from './shape.ts'

/** How often a rank that has no part in the shape looks into a page of the batch, so that sharers come and go. */
const DISTURBANCES = 6

/** What `progress` says of a rank that has played all its rounds. */
const FINISHED = 2 ** 31 - 1

/** What is drawn at random for every batch, the same at every rank. */
export interface Batch {
  /** Values of its rounds are counted from here. */
  readonly base: number
  /** Process p of the shape is played by rank p + shift. */
  readonly shift: number
  /** The home of the first location. */
  readonly home: number
  /** The rank that looks at what is left, and prepares the next batch. */
  readonly referee: number
  /** See {@link Pace}. */
  readonly pace: number
}

/** How the words of a batch lie in memory: location l of slot s is word `first[l] + stride * s`. */
interface Places {
  readonly first: readonly number[]
  readonly stride: number
  readonly slots: number
}

export interface PlayerOptions {
  readonly rank: number
  readonly pageSize: number
  readonly board: Board
  readonly pace: Pace
}

/** The most pages an axis uses: three locations, each at any home. */
export function pagesOf(ranks: number): number {
  return 3 * ranks
}

/** One rank's part in playing a program on an axis. Every rank calls the same methods with the same numbers. */
export class Player {
  readonly #options: PlayerOptions
  readonly #program: Program
  readonly #axis: Axis
  readonly #memory: LitmusMemory

  constructor(options: PlayerOptions, program: Program, axis: Axis, memory: LitmusMemory) {
    this.#options = options
    this.#program = program
    this.#axis = axis
    this.#memory = memory
  }

  /** Rounds in a batch: as many as one page has room for, or fewer where its pace is slow. */
  roundsIn(batch: Batch): number {
    return this.#places(batch).slots
  }

  /** Play one batch: every slot is a round with locations of its own, which all hold the batch's base at first. */
  play(batch: Batch, next: Batch): void {
    const { rank, board, pace } = this.#options
    const { processes } = this.#program
    const players = processes.map((_, process) => (process + batch.shift) % this.#axis.ranks)
    const others = players.filter((player) => player !== rank)
    pace.begin(batch.pace, others)
    board.meet()
    const operations = processes[players.indexOf(rank)]
    if (operations === undefined) this.#disturb(batch)
    else this.#playRounds(operations, batch)
    this.#memory.settle()
    board.announceProgress(rank, FINISHED)
    board.meet()
    board.setProgress(rank, 0)
    if (batch.referee === rank) {
      this.#judge(batch)
      this.#prepare(next)
    }
    board.meet()
  }

  /** Before the first batch. */
  begin(batch: Batch): void {
    const { rank, board } = this.#options
    board.meet()
    board.setProgress(rank, 0)
    if (rank === 0) this.#prepare(batch)
    board.meet()
  }

  #prepare(batch: Batch): void {
    const { first, stride, slots } = this.#places(batch)
    for (const word of first)
      for (let slot = 0; slot < slots; slot += 1) this.#memory.store(word + stride * slot, batch.base)
    this.#memory.settle()
  }

  #playRounds(operations: readonly Operation[], batch: Batch): void {
    const { board, pace } = this.#options
    const memory = this.#memory
    const { base } = batch
    const { first, stride, slots } = this.#places(batch)
    // What loads give is kept apart until the end: stores to the board between the operations would order them.
    const loaded = operations.map(() => new Int32Array(slots))
    const count = operations.length
    for (let slot = 0; slot < slots; slot += 1) {
      pace.beforeRound(slot)
      for (let index = 0; index < count; index += 1) {
        const operation = operations[index]!
        const word = first[operation.location]! + stride * slot
        pace.beforeOperation()
        if (operation.isStore) memory.store(word, base + operation.value)
        else loaded[index]![slot] = memory.load(word)
      }
    }
    for (const [index, { isStore, field }] of operations.entries())
      if (!isStore) board.results(field, slots).set(loaded[index]!)
  }

  #disturb(batch: Batch): void {
    const { first, slots, stride } = this.#places(batch)
    const { pace, rank } = this.#options
    for (let time = 0; time < DISTURBANCES; time += 1) {
      pace.pause()
      this.#memory.load(first[time % first.length]! + stride * ((time * 37 + rank) % slots))
    }
  }

  /** Look at what is left, and count the outcome of every round. */
  #judge(batch: Batch): void {
    const { board } = this.#options
    const { fields } = this.#program
    const { first, stride, slots } = this.#places(batch)
    const loads = fields.map((field, index) => (field.kind === 'load' ? board.results(index, slots) : undefined))
    for (let slot = 0; slot < slots; slot += 1) {
      let outcome = 0
      for (let index = 0; index < fields.length; index += 1) {
        const field = fields[index]!
        const value =
          field.kind === 'load' ? loads[index]![slot]! : this.#memory.load(first[field.location]! + stride * slot)
        outcome |= codeOf(value, batch.base) << (FIELD_BITS * index)
      }
      board.count(outcome)
    }
  }

  #places({ home, pace }: Pick<Batch, 'home' | 'pace'>): Places {
    const { pageSize } = this.#options
    const { ranks, pages, homes } = this.#axis
    const words = pageSize / 8
    const { length } = this.#program.locations
    if (pages === 'same') {
      const page = home % ranks
      return {
        first: this.#program.locations.map((_, location) => page * words + location),
        stride: length,
        slots: roundsOf(pace, Math.floor(words / length)),
      }
    }
    const first = this.#program.locations.map((_, location) => {
      const at = (home + (homes === 'different' ? location : 0)) % ranks
      return (location * ranks + at) * words
    })
    return { first, stride: 1, slots: roundsOf(pace, words) }
  }
}
