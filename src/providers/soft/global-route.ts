import type { AddressVector } from '../address.ts'
import type { Gid } from '../gid.ts'

/** The length of the global route header in front of every datagram, as in IPv6 (IB specification 8.3). */
export const GLOBAL_ROUTE_BYTES = 40
const IP_VERSION = 6
/** The next header is a base transport header. */
const NEXT_HEADER = 0x1b
const DEFAULT_HOP_LIMIT = 64

/** The header of the datagrams of one sender, patched for each. */
export class GlobalRoute {
  readonly bytes: Uint8Array
  readonly #view: DataView

  constructor(source: Gid) {
    this.bytes = new Uint8Array(GLOBAL_ROUTE_BYTES)
    this.#view = new DataView(this.bytes.buffer)
    this.#view.setUint8(6, NEXT_HEADER)
    this.#writeGid(8, source)
  }

  describe(vector: AddressVector, payloadBytes: number): void {
    const { trafficClass = 0, flowLabel = 0, hopLimit = DEFAULT_HOP_LIMIT, gid } = vector
    this.#view.setUint32(0, ((IP_VERSION << 28) | (trafficClass << 20) | flowLabel) >>> 0)
    this.#view.setUint16(4, payloadBytes)
    this.#view.setUint8(7, hopLimit)
    this.#writeGid(24, gid)
  }

  #writeGid(at: number, gid: Gid): void {
    this.#view.setBigUint64(at, gid >> 64n)
    this.#view.setBigUint64(at + 8, gid & 0xffffffffffffffffn)
  }
}
