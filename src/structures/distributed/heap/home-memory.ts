import { type ClaimOutcome, claimOn, type HolderWords } from '../../claim.ts'
import { type Command, CompareExchangeCommand, FetchAddCommand, ReadCommand } from '../memory/command.ts'
import { BATCH_MAX, type GroupMemory } from '../memory/group-memory.ts'
import type { Bells } from '../waiting/bells.ts'
import type { GroupBell, RingKind } from '../waiting/group-bell.ts'

/** The memory of one home, on behalf of one structure. Each method is a round trip. */
export class HomeMemory {
  readonly group: GroupMemory
  readonly home: number
  /** What errors call it: `counter 'hits'`. */
  readonly what: string
  /** How each hold of this rank at this home is released. */
  readonly holds: Set<() => Promise<void>>
  readonly #bells: Bells

  constructor(group: GroupMemory, home: number, what: string, holds: Set<() => Promise<void>>, bells: Bells) {
    this.group = group
    this.home = home
    this.what = what
    this.holds = holds
    this.#bells = bells
  }

  run(batch: readonly Command[]): Promise<void> {
    return this.group.run(this.home, this.what, batch)
  }

  /** Carry out any number of commands, in order. They go in as many batches as needed, all on their way at once. */
  async runAll(commands: readonly Command[]): Promise<void> {
    const batches: Promise<void>[] = []
    for (let at = 0; at < commands.length; at += BATCH_MAX) batches.push(this.run(commands.slice(at, at + BATCH_MAX)))
    await Promise.all(batches)
  }

  /** For who waits for something here, with its marks at `place`. */
  bell(place: number, kind: RingKind): GroupBell {
    const { group, home, what } = this
    return this.#bells.at({ group, home, what, place }, kind)
  }

  async load64(offset: number): Promise<bigint> {
    return (await this.read(offset, 8)).word()
  }

  /** Gives the value before. */
  async fetchAdd64(offset: number, amount: bigint): Promise<bigint> {
    const command = new FetchAddCommand(offset, amount)
    await this.run([command])
    return command.before
  }

  /** Gives the value before; it was replaced where that is `expected`. */
  async compareExchange64(offset: number, expected: bigint, desired: bigint): Promise<bigint> {
    const command = new CompareExchangeCommand(offset, expected, desired)
    await this.run([command])
    return command.before
  }

  /** Claim what is in the word at `offset`, which was `seen` there. */
  async claim(offset: number, words: HolderWords<bigint>, seen: bigint): Promise<ClaimOutcome<bigint>> {
    const outcome = claimOn(words, seen, true)
    const { word } = outcome
    if (word === undefined || (await this.compareExchange64(offset, seen, word)) === seen) return outcome
    return { claim: 'held', word: undefined }
  }

  async read(offset: number, length: number): Promise<ReadCommand> {
    const command = new ReadCommand(offset, length)
    await this.run([command])
    return command
  }
}
