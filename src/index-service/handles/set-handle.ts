import { buffersOf, bytesOfValue, type IndexCallOptions, type IndexValue, type KeyCaller, numberOf } from './caller.ts'

/** Members, each once, at a key. Made by `index.setAt(key)`. */
export class IndexSet {
  readonly #at: KeyCaller

  /** @internal */
  constructor(at: KeyCaller) {
    this.#at = at
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
    return (await this.#at.call('has', 'SISMEMBER', [bytesOfValue(member, 'member')], options)) === 1
  }

  async members(options: IndexCallOptions = {}): Promise<Buffer[]> {
    return buffersOf(await this.#at.call('members', 'SMEMBERS', [], options))
  }

  async size(options: IndexCallOptions = {}): Promise<number> {
    return numberOf(await this.#at.call('size', 'SCARD', [], options))
  }

  async #change(name: string, members: readonly IndexValue[]): Promise<number> {
    if (members.length === 0) return 0
    return numberOf(
      await this.#at.call(
        '#change',
        name,
        members.map((member) => bytesOfValue(member, 'member')),
        undefined,
      ),
    )
  }
}
