import type { Endpoint, RegisteredBuffer, RemoteAddress } from 'aether-dsm/internal/messaging'
import type { Data } from '../model/process.ts'
import { type CellLayout, decodeCell, decodeHeads } from './register-cell.ts'

/** How often a value is looked for that is being written. If its writer has crashed or lies, it never gets whole. */
const LOOKS_MAX = 100

/** Reads one register of a memory into a part of this end's memory. */
export class RegisterRead {
  readonly #endpoint: Endpoint
  readonly #local: RegisteredBuffer
  readonly #offset: number
  readonly #remote: RemoteAddress
  readonly #cell: CellLayout

  /** @param offset Where in `local` the bytes of the register go. */
  constructor(endpoint: Endpoint, local: RegisteredBuffer, offset: number, remote: RemoteAddress, cell: CellLayout) {
    this.#endpoint = endpoint
    this.#local = local
    this.#offset = offset
    this.#remote = remote
    this.#cell = cell
  }

  /**
   * Null where nothing was written in full, or nothing that ever gets whole. A correct process that has written before
   * always leaves one of two copies whole. So there is a value, however often this end came between its copies.
   */
  async value(): Promise<Data> {
    for (let looks = 1; ; looks += 1) {
      const { value, copies } = await this.#look()
      if (value !== undefined) return value
      const isThere = copies > 1 && !this.#cell.isDoubtful
      if (looks >= LOOKS_MAX && !isThere) return null
    }
  }

  /** Of the value, as its writer counts them; 0 where none is whole. For the writer, while it writes nothing. */
  async number(): Promise<number> {
    return (await this.#look()).number
  }

  /** The value, undefined if none is whole, with its number; and how many copies have been begun. */
  async #look(): Promise<{ readonly value: Data | undefined; readonly number: number; readonly copies: number }> {
    const heads = decodeHeads(await this.#fetch(0, this.#cell.headsBytes), this.#cell)
    if (heads.length === 0) return { value: null, number: 0, copies: 0 }
    for (const head of heads) {
      const rest = await this.#fetch(this.#cell.restAt(head.copy), head.length - head.text.length)
      const value = decodeCell(head, rest)
      if (value !== undefined) return { value, number: head.number, copies: heads.length }
    }
    return { value: undefined, number: 0, copies: heads.length }
  }

  /** A copy of that part of the register. */
  async #fetch(at: number, length: number): Promise<Buffer> {
    const offset = this.#offset + at
    if (length > 0) {
      const { address, key } = this.#remote
      await this.#endpoint.read({ buffer: this.#local, offset, length }, { address: address + at, key })
    }
    return Buffer.from(this.#local.bytes.subarray(offset, offset + length))
  }
}
