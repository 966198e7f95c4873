import { type DeviceAttributes, deviceNames, openDevice } from '../../verbs/index.ts'
import type { Machine } from '../hosts/index.ts'
import { JoinError } from './errors.ts'
import { DEVICE_VARIABLE } from './group-options.ts'

const SHM = 'shm0'

/**
 * The verbs device that connects the ranks: the one that was asked for, else the one of shared memory where they all run on one machine, else
 * the first RDMA device.
 * @throws JoinError where there is none, or shared memory was asked for that does not reach so far.
 */
export function chooseDevice(wanted: string | undefined, machines: readonly Machine[]): string {
  const own = machines[0]!
  const reachable = machines.every((machine) => machine.processes === own.processes)
  if (wanted === SHM && !reachable)
    throw new JoinError(`device ${SHM} is memory of one machine, but ${whereTheyAre(machines)}; choose an RDMA device`)
  if (wanted !== undefined) return wanted
  if (machines.every((machine) => machine.space === own.space)) return SHM
  const [first] = deviceNames().filter((name) => name !== SHM)
  if (first !== undefined) return first
  throw new JoinError(
    `${whereTheyAre(machines)}, and there is no RDMA device here: load its driver, or add a software one (rdma link add rxe0 type rxe netdev …); ` +
      `${DEVICE_VARIABLE} names one`,
  )
}

/** What kind of network the device is on. Found out here, because the agent, which is to use it, cannot be given an error. @throws VerbsError */
export function linkLayerOf(name: string): DeviceAttributes['linkLayer'] {
  using device = openDevice(name)
  return device.attributes.linkLayer
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
