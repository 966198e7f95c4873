import { type Configuration, type Entry, EntryFlag } from 'aether-dsm/internal/consensus'
import { ViolationError } from '../observer.ts'
import { commandsOf } from './simulated-replica.ts'

/** What was decided, and what the state is after each entry: all replicas are compared with the first of them. */
export class DecidedLog {
  /** From index 1 on. */
  readonly #texts: string[] = []
  readonly #states = new Map<number, string>()
  /** How many commands the state has after each entry; one that was proposed twice counts once. */
  readonly #commands: number[] = [0]
  readonly #calls = new Set<string>()
  /** Every configuration that was in force, by version. */
  readonly #configurations = new Map<number, Configuration>()
  /** Terms whose first entry was decided. */
  readonly terms: Set<number> = new Set<number>()

  /** The last index. */
  get last(): number {
    return this.#texts.length
  }

  get configurations(): readonly Configuration[] {
    return [...this.#configurations.values()]
  }

  get highestTerm(): number {
    return Math.max(0, ...this.terms)
  }

  /** `undefined` while nothing is decided there. */
  text(index: number): string | undefined {
    return this.#texts[index - 1]
  }

  /** Whether a call is in the log, as `client/call`. */
  has(call: string): boolean {
    return this.#calls.has(call)
  }

  configure(configuration: Configuration): void {
    this.#configurations.set(configuration.version, configuration)
  }

  /** A replica says that this entry is decided. True if it is the first that does. */
  add(replica: number, entry: Entry): boolean {
    const { index, flags, term } = entry
    const text = textOf(entry)
    const before = this.#texts[index - 1]
    if (before !== undefined) {
      if (before === text) return false
      throw new ViolationError(`agreement: at ${index} replica ${replica} has ${text}, another ${before}`)
    }
    if (index !== this.last + 1) throw new ViolationError(`order: entry ${index} is decided after ${this.last}`)
    this.#texts.push(text)
    for (const { client, call } of commandsOf(entry)) this.#calls.add(`${client}/${call}`)
    this.#commands.push(this.#calls.size)
    if ((flags & EntryFlag.Begin) !== 0) this.terms.add(term)
    return true
  }

  /** A replica has applied all entries up to `index`. */
  checkState(replica: number, index: number, state: string, commands: number): void {
    const first = this.#states.get(index)
    if (first === undefined) this.#states.set(index, state)
    else if (first !== state)
      throw new ViolationError(`state: after ${index} replica ${replica} has ${state}, another ${first}`)
    if (commands !== this.#commands[index])
      throw new ViolationError(
        `state: after ${index} replica ${replica} has applied ${commands} commands of ${this.#commands[index]}`,
      )
  }
}

/** All of an entry that has to be the same everywhere. */
export function textOf({ flags, term, timeMs, payload }: Entry): string {
  return `${flags}/${term}/${timeMs}/${Buffer.from(payload).toString('latin1').trim()}`
}
