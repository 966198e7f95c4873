import { LuaFault } from './lua.ts'

/** Values are much shorter. To make more, the process might need more memory than it has. */
const BYTES_MAX = 2 ** 27

/** Counts the bytes of what a library makes. */
export class MadeBytes {
  #bytes = 0

  /** @throws LuaFault if it comes to too many. */
  add(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > BYTES_MAX) throw new LuaFault(`Cannot make more than ${BYTES_MAX} bytes`)
  }
}
