import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import type { GidEntry, LinkLayer, PortAttributes } from '../port.ts'
import { MAX_MESSAGE_BYTES, MAX_MTU } from './limits.ts'

/** The one port of a device. */
export class OnlyPort {
  readonly #device: string
  readonly #linkLayer: LinkLayer
  readonly #gids: readonly GidEntry[]

  /** `device` names it in messages. */
  constructor(device: string, linkLayer: LinkLayer, type: GidEntry['type'], gid: Gid) {
    this.#device = device
    this.#linkLayer = linkLayer
    this.#gids = [{ index: 0, gid, type }]
  }

  /** EINVAL for any other port. */
  check(verb: string, port: number): void {
    if (port !== 1) throw new VerbsError(verb, Errno.EINVAL, `${this.#device} has port 1 only, not ${port}`)
  }

  gids(port: number): readonly GidEntry[] {
    this.check('ibv_query_gid_table', port)
    return this.#gids
  }

  query(port: number, up: boolean, gigabitsPerSecond: number): PortAttributes {
    this.check('ibv_query_port', port)
    return {
      port,
      state: up ? 'active' : 'down',
      linkLayer: this.#linkLayer,
      maxMtu: MAX_MTU,
      activeMtu: MAX_MTU,
      gidCount: 1,
      partitionKeyCount: 1,
      localIdentifier: 0,
      subnetManagerLocalIdentifier: 0,
      localIdentifierMaskControl: 0,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      gigabitsPerSecond,
      physicalState: up ? 'LinkUp' : 'Disabled',
    }
  }
}
