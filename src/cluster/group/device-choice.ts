import { Access, deviceNames, type LinkLayer, openDevice } from '../../verbs/index.ts'
import type { Machine } from '../hosts/index.ts'
import { JoinError } from './errors.ts'
import { DEVICE_VARIABLE } from './group-options.ts'
import { LINK_BYTES } from './mesh-limits.ts'

export const SHM = 'shm0'
/** The device on the best network interface. */
const TCP = 'tcp0'

/**
 * The verbs device that connects the ranks: the requested one if there is a request. Otherwise it is shared memory if
 * all ranks run on one machine, else the first active RDMA device if every rank has one, else TCP.
 * @throws JoinError if there is no such device, or shared memory was requested and the ranks are on several machines.
 */
export function chooseDevice(wanted: string | undefined, machines: readonly Machine[], everywhere: boolean): string {
  const own = machines[0]!
  const reachable = machines.every((machine) => machine.processes === own.processes)
  if (wanted === SHM && !reachable)
    throw new JoinError(
      `device ${SHM} works on one machine only, but ${whereTheyAre(machines)}; name no device, or ${TCP}`,
    )
  if (wanted !== undefined) return wanted
  if (machines.every((machine) => machine.space === own.space)) return SHM
  const found = (everywhere ? rdmaNames().find(isActive) : undefined) ?? deviceNames().find((name) => name === TCP)
  if (found !== undefined) return found
  throw new JoinError(
    `${whereTheyAre(machines)}, and no device connects them: bring a network interface up (ip link set … up), or set ${DEVICE_VARIABLE} to choose a device by name`,
  )
}

/** True if this machine has an RDMA device whose port is active. */
export function hasRdma(): boolean {
  return rdmaNames().some(isActive)
}

function rdmaNames(): string[] {
  return deviceNames().filter((name) => name !== SHM && !name.startsWith('tcp'))
}

/** A device that connects the ranks. */
export interface GroupDevice {
  readonly name: string
  readonly linkLayer: LinkLayer
  /** The longest packet its port sends, in bytes. */
  readonly mtuBytes: number
}

/**
 * Look at the device that is to connect `ranks` ranks, and try what the agent will do. It is done here because an error
 * cannot be thrown into the agent.
 * @throws VerbsError if it cannot be opened, or memory for that many connections cannot be locked; JoinError if its
 *   port is not active.
 */
export function inspectDevice(name: string, ranks: number): GroupDevice {
  using device = openDevice(name)
  const { state, physicalState, linkLayer, activeMtu } = device.queryPort()
  if (linkLayer === 'iwarp')
    throw new JoinError(
      `device ${name} speaks iWARP, whose queue pairs only connect() and listen() can connect: name ${TCP}, or set ${DEVICE_VARIABLE} to another device`,
    )
  if (state === 'active') {
    device.createProtectionDomain().allocate(LINK_BYTES * ranks, Access.LocalWrite)
    return { name, linkLayer, mtuBytes: activeMtu }
  }
  throw new JoinError(
    `port 1 of device ${name} is ${state} (${physicalState}): bring its link up, or name another with ${DEVICE_VARIABLE}`,
  )
}

function isActive(name: string): boolean {
  try {
    inspectDevice(name, 1)
    return true
  } catch {
    return false
  }
}

/** `ranks 0 and 1 are on a, rank 2 is on b`. */
function whereTheyAre(machines: readonly Machine[]): string {
  const places = new Map<string, { host: string; ranks: number[] }>()
  for (const [rank, { space, host }] of machines.entries()) {
    const place = places.get(space) ?? { host, ranks: [] }
    place.ranks.push(rank)
    places.set(space, place)
  }
  return [...places.values()]
    .map(
      ({ host, ranks }) =>
        `rank${ranks.length === 1 ? '' : 's'} ${ranks.join(', ')} ${ranks.length === 1 ? 'is' : 'are'} on ${host}`,
    )
    .join(', ')
}
