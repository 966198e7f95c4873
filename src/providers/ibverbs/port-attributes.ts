import type { VerbsGidEntry, VerbsPortFacts } from '../../native/index.ts'
import type { GidEntry, LinkLayer, PortAttributes } from '../port.ts'

/** Of the tcp device (native/tcp-engine.cc); libibverbs has no such number. */
const LINK_LAYER_TCP = 128
/** Of devices whose transport is iWARP (native/verbs-device.cc). */
const LINK_LAYER_IWARP = 129

/** `enum ibv_port_state` */
const states: readonly PortAttributes['state'][] = ['unknown', 'down', 'init', 'armed', 'active', 'active-defer']
/** The numbers of the InfiniBand specification's PortPhysicalState. */
const physicalStates = [
  '',
  'Sleep',
  'Polling',
  'Disabled',
  'PortConfigurationTraining',
  'LinkUp',
  'LinkErrorRecovery',
  'PhyTest',
]
/** Lanes by the code of the active width. */
const lanes: Readonly<Record<number, number>> = { 1: 1, 2: 4, 4: 8, 8: 12, 16: 2 }
/** Gb/s of a lane by the code of the active speed: SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR, XDR. */
const speeds: Readonly<Record<number, number>> = { 1: 2.5, 2: 5, 4: 10, 8: 10, 16: 14, 32: 25, 64: 50, 128: 100 }
/** By `enum ibv_gid_type`. Libraries that do not know it report -1; their gids count as the first kind. */
const gidTypes: readonly GidEntry['type'][] = ['infiniband', 'roce-v1', 'roce-v2']

export function linkLayerOf(facts: VerbsPortFacts): LinkLayer {
  if (facts.linkLayer === LINK_LAYER_TCP) return 'tcp'
  if (facts.linkLayer === LINK_LAYER_IWARP) return 'iwarp'
  return facts.linkLayer === 1 ? 'infiniband' : 'ethernet'
}

export function portAttributes(port: number, facts: VerbsPortFacts): PortAttributes {
  return {
    port,
    state: states[facts.state] ?? 'unknown',
    linkLayer: linkLayerOf(facts),
    maxMtu: facts.maxMtu,
    activeMtu: facts.activeMtu,
    gidCount: facts.gidTableLength,
    partitionKeyCount: facts.partitionKeyTableLength,
    localIdentifier: facts.localIdentifier,
    subnetManagerLocalIdentifier: facts.subnetManagerLocalIdentifier,
    localIdentifierMaskControl: facts.localIdentifierMask,
    maxMessageBytes: facts.maxMessageBytes,
    gigabitsPerSecond: (lanes[facts.activeWidth] ?? 0) * (speeds[facts.activeSpeed] ?? 0),
    physicalState: physicalStates[facts.physicalState] ?? `state ${facts.physicalState}`,
  }
}

export function gidEntry({ index, gid, type, interfaceName }: VerbsGidEntry): GidEntry {
  const entry = { index, gid, type: gidTypes[type] ?? 'infiniband' }
  return interfaceName === '' ? entry : { ...entry, interfaceName }
}
