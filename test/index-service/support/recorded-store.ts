import type { Buffer } from 'node:buffer'
import type { Index } from '../../../src/public/index-service.ts'
import type { Fields, KeyStore } from '../../../tools/bench/index-service/key-store.ts'
import type { CallRecord } from './call-record.ts'
import { type FoundPlaces, keyOfPlace, type LoadInput } from './load-calls.ts'

const PLACE_END = 2 ** 32
const CHANGED = (): readonly number[] => [1]

/**
 * An index as the workloads of YCSB use it, by calls that are written down. Values that come with them are of no use:
 * each write has one of its own.
 */
export class RecordedStore implements KeyStore {
  readonly waits = true
  readonly #index: Index
  readonly #record: CallRecord

  constructor(index: Index, record: CallRecord) {
    this.#index = index
    this.#record = record
  }

  async get(key: string): Promise<unknown> {
    const run = () => this.#index.get(key)
    const outputOf = (value: Buffer | undefined) => [Number(value ?? 0)]
    return await this.#during({ of: 'slot', key, input: { type: 'read', registers: [key] } }, run, outputOf)
  }

  async set(key: string): Promise<unknown> {
    const value = this.#record.newValue()
    const input: LoadInput = { of: 'slot', key, input: { type: 'write', values: { [key]: value } } }
    return await this.#during(input, () => this.#index.set(key, value), CHANGED)
  }

  async setAll(keys: readonly string[]): Promise<void> {
    await Promise.all(keys.map((key) => this.set(key)))
  }

  /** A hash has the fields that it has been given, of which the first names all. */
  async record(key: string): Promise<unknown> {
    const registers = Array.from({ length: FIELDS }, (_, field) => `field${field}`)
    const run = () => this.#index.hashAt(key).entries()
    return await this.#during({ of: 'hash', key, input: { type: 'read', registers } }, run, (entries) => {
      const held = new Map(entries.map(([field, value]) => [String(field), Number(value)]))
      return registers.map((field) => held.get(field) ?? 0)
    })
  }

  async setFields(key: string, fields: Fields): Promise<unknown> {
    const value = this.#record.newValue()
    const values = Object.fromEntries(Object.keys(fields).map((field) => [field, value]))
    const run = () => this.#index.hashAt(key).set(values)
    return await this.#during({ of: 'hash', key, input: { type: 'write', values } }, run, CHANGED)
  }

  async insert(place: number): Promise<unknown> {
    const value = this.#record.newValue()
    return await this.#during({ of: 'order', place, value }, () => this.#index.set(keyOfPlace(place), value), CHANGED)
  }

  async remove(place: number): Promise<unknown> {
    return await this.#during({ of: 'order', place, value: 0 }, () => this.#index.delete(keyOfPlace(place)), CHANGED)
  }

  async range(from: number, limit: number, to: number = PLACE_END, reverse: boolean = false): Promise<number> {
    const run = async (): Promise<FoundPlaces> => {
      const found: (readonly [number, number])[] = []
      const bounds = { from: keyOfPlace(from), to: keyOfPlace(to) }
      for await (const [key, value] of this.#index.range({ ...bounds, limit, reverse }))
        found.push([key[1] as number, Number(value)])
      return found
    }
    const found = await this.#during({ of: 'order', from, to, limit, reverse }, run, (places) => places)
    return found?.length ?? 0
  }

  close(): Promise<void> {
    return this.#index.close()
  }

  #during<T>(input: LoadInput, run: () => Promise<T>, outputOf: (value: T) => readonly number[] | FoundPlaces) {
    return this.#record.during(input, run, outputOf)
  }
}

/** Of a record of YCSB. */
const FIELDS = 10
