import type { Reply } from '../commands/reply.ts'
import { buffersOf, bytesOfValue, type Caller, type IndexCallOptions, type IndexValue, numberOf } from './caller.ts'

/** Members, each once, at a key. Made by `index.setAt(key)`. */
export class IndexSet {
  readonly #caller: Caller
  readonly #key: Uint8Array

  /** @internal */
  constructor(caller: Caller, key: Uint8Array) {
    this.#caller = caller
    this.#key = key
  }

  /** How many of the members are new. */
  async add(...members: readonly IndexValue[]): Promise<number> {
    return await this.#change('SADD', members)
  }

  /** How many of the members were there. */
  async delete(...members: readonly IndexValue[]): Promise<number> {
    return await this.#change('SREM', members)
  }

  async has(member: IndexValue, options: IndexCallOptions = {}): Promise<boolean> {
    return (await this.#call('SISMEMBER', [bytesOfValue(member, 'member')], options)) === 1
  }

  async members(options: IndexCallOptions = {}): Promise<Buffer[]> {
    return buffersOf(await this.#call('SMEMBERS', [], options))
  }

  async size(options: IndexCallOptions = {}): Promise<number> {
    return numberOf(await this.#call('SCARD', [], options))
  }

  async #change(name: string, members: readonly IndexValue[]): Promise<number> {
    if (members.length === 0) return 0
    return numberOf(
      await this.#call(
        name,
        members.map((member) => bytesOfValue(member, 'member')),
      ),
    )
  }

  #call(name: string, args: readonly Uint8Array[], options?: IndexCallOptions): Promise<Reply> {
    return this.#caller.one({ name, args: [this.#key, ...args] }, options)
  }
}
