import type { VerbsAddon, VerbsGidEntry, VerbsPortFacts, VerbsToken } from '../../native/index.ts'
import type { OpenDeviceOptions } from '../contract.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import { chooseGid } from './gid-choice.ts'
import { attempt } from './verb.ts'

const LINK_LAYER_INFINIBAND = 1

/** The port that an open device talks through, and the gid that it announces. */
export class IbverbsPort {
  readonly number: number
  readonly facts: VerbsPortFacts
  readonly gid: Gid
  readonly gidIndex: number

  constructor(verbs: VerbsAddon, device: VerbsToken, name: string, options: OpenDeviceOptions) {
    this.number = options.port ?? 1
    this.facts = attempt(() => verbs.queryPort(device, this.number))
    const entries = attempt(() => verbs.queryGids(device, this.number, this.facts.gidTableLength))
    const chosen = choose(entries, options)
    if (chosen === undefined) throw new VerbsError('ibv_query_gid', Errno.ENODEV, noGid(name, this.number, options))
    this.gid = chosen.gid
    this.gidIndex = chosen.index
  }

  get isInfiniBand(): boolean {
    return this.facts.linkLayer === LINK_LAYER_INFINIBAND
  }

  /**
   * True if packets to that address need a global route header: always on Ethernet; on InfiniBand to another subnet, or
   * without a local identifier.
   */
  needsGlobalRoute(gid: Gid, localIdentifier: number): boolean {
    if (!this.isInfiniBand || localIdentifier === 0) return true
    return gid >> 64n !== this.gid >> 64n
  }
}

function choose(entries: readonly VerbsGidEntry[], options: OpenDeviceOptions): VerbsGidEntry | undefined {
  const { sourceGidIndex } = options
  if (sourceGidIndex === undefined) return chooseGid(entries, options.addressFamily ?? 'ipv4')
  return entries.find((entry) => entry.index === sourceGidIndex && entry.gid !== 0n)
}

function noGid(name: string, port: number, options: OpenDeviceOptions): string {
  if (options.sourceGidIndex !== undefined)
    return `port ${port} of ${name} has no gid at index ${options.sourceGidIndex}; look with: rdma link show; ibv_devinfo -v`
  return `port ${port} of ${name} has no gid: give its network interface an address and bring it up (ip link set … up)`
}
