import type { Buffer } from 'node:buffer'
import { type Index, IndexError } from '../../../src/public/index-service.ts'
import type { Random } from '../../../src/runtime/index.ts'
import type { RegisterValues } from '../../../tools/linearizability/index.ts'
import type { CallRecord } from './call-record.ts'

const SLOTS = 3
const KEYS = ['a', 'b', 'c']

/** Keys of one slot that are read and changed together, by calls that are written down. */
export class SlotClient {
  readonly #index: Index
  readonly #record: CallRecord
  readonly #random: Random
  /** What was read last of each slot, with its versions: a change that depends on it. */
  readonly #last = new Map<string, { readonly values: RegisterValues; readonly versions: readonly number[] }>()

  constructor(index: Index, record: CallRecord, random: Random) {
    this.#index = index
    this.#record = record
    this.#random = random
  }

  async step(): Promise<void> {
    const slot = `{slot ${this.#random.below(SLOTS)}}`
    const kind = this.#random.below(4)
    if (kind === 0) await this.#write(slot)
    else if (kind === 1) await this.#remove(slot)
    else if (kind === 2) await this.#read(slot)
    else await this.#change(slot)
  }

  /** Two of the keys. */
  async #write(slot: string): Promise<void> {
    const spared = this.#random.below(KEYS.length)
    const value = this.#record.newValue()
    const keys = KEYS.filter((_, place) => place !== spared)
    const values = Object.fromEntries(keys.map((key) => [key, value]))
    const run = () => this.#index.atomic(keys.map((key) => ['SET', slot + key, value]))
    await this.#record.during({ of: 'slot', key: slot, input: { type: 'write', values } }, run, () => [1])
  }

  async #remove(slot: string): Promise<void> {
    const run = () => this.#index.delete(...KEYS.slice(0, 2).map((key) => slot + key))
    const input = { type: 'write', values: { a: 0, b: 0 } }
    await this.#record.during({ of: 'slot', key: slot, input }, run, () => [1])
  }

  /** The values, and the versions that they had at the same moment. */
  async #read(slot: string): Promise<void> {
    const names = KEYS.map((key) => slot + key)
    const versions = await this.#index.versions(names).catch(unlessIndexError)
    if (versions === undefined) return
    const unchanged = names.map((name, place) => [name, versions[place]!] as const)
    const run = () =>
      this.#index.atomic(
        names.map((name) => ['GET', name]),
        { unchanged },
      )
    const valuesOf = (replies: Awaited<ReturnType<typeof run>>) =>
      replies?.map((reply) => Number((reply as Buffer | null) ?? 0))
    const input = { type: 'read', registers: KEYS }
    // Something had changed in between: it has read nothing.
    const replies = await this.#record.during({ of: 'slot', key: slot, input }, run, (found) => valuesOf(found) ?? null)
    const values = valuesOf(replies)
    if (values === undefined) this.#last.delete(slot)
    else this.#last.set(slot, { versions, values: Object.fromEntries(KEYS.map((key, place) => [key, values[place]!])) })
  }

  /** The first key, if none of the slot has changed since it was read. */
  async #change(slot: string): Promise<void> {
    const known = this.#last.get(slot)
    if (known === undefined) return await this.#read(slot)
    this.#last.delete(slot)
    const value = this.#record.newValue()
    const unchanged = KEYS.map((key, place) => [slot + key, known.versions[place]!] as const)
    const run = () => this.#index.atomic([['SET', `${slot}a`, value]], { unchanged })
    const input = { type: 'compareAndSet', expected: known.values, values: { a: value } }
    await this.#record.during({ of: 'slot', key: slot, input }, run, (done) => [done === undefined ? 0 : 1])
  }
}

function unlessIndexError(error: unknown): undefined {
  if (!(error instanceof IndexError)) throw error
}
