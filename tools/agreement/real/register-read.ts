import type { Endpoint, RegisteredBuffer, RemoteAddress } from 'aether-dsm/internal/messaging'
import type { Data } from '../model/process.ts'
import { type CellLayout, decodeCell, decodeHeads } from './register-cell.ts'

/** How often a value is looked for that is being written. One that never gets whole is none. */
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

  /** Null where nothing was written, or nothing that ever gets whole. */
  async value(): Promise<Data> {
    for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
      const value = await this.#look()
      if (value !== undefined) return value
    }
    return null
  }

  async #look(): Promise<Data | undefined> {
    const heads = decodeHeads(await this.#fetch(0, this.#cell.headsBytes), this.#cell)
    if (heads.length === 0) return null
    for (const head of heads) {
      const rest = await this.#fetch(this.#cell.restAt(head.copy), head.length - head.text.length)
      const value = decodeCell(head, rest)
      if (value !== undefined) return value
    }
    return undefined
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
