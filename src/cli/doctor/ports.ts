/** Checks of each port: link, speed, addresses, pacing. */
import { type Finding, fail, ok, warn } from './finding.ts'
import type { Machine } from './machine.ts'
import { deviceText, type RdmaPort, rdmaDevices, rdmaPorts } from './rdma-port.ts'

/** An RDMA packet of 4096 bytes with its headers. */
const NETWORK_MTU_FOR_4096 = 4200

export function checkPortStates(machine: Machine): Finding[] {
  return rdmaPorts(machine).map((port) => {
    if (port.state === 'ACTIVE') return ok('port', `${port.label} is active`)
    return fail('port', `${port.label} is ${port.state} (physical state ${port.physicalState})`, linkFix(port))
  })
}

function linkFix(port: RdmaPort): string {
  if (port.isEthernet) return `ip link set ${port.networkCard ?? 'its network card'} up; then check cable and switch`
  if (port.state === 'INIT')
    return 'no subnet manager has set up the port: systemctl start opensm, on one host of the fabric'
  return 'check cable and switch; then systemctl start opensm, on one host of the fabric'
}

export function checkSpeeds(machine: Machine): Finding[] {
  const speeds = rdmaPorts(machine)
    .filter((port) => port.text('rate') !== undefined)
    .map((port) => ok('speed', `${port.label} runs at ${port.text('rate')}, ${linkOf(port)}`))
  return [...speeds, ...rdmaDevices(machine).flatMap((device) => checkSlot(machine, device))]
}

const linkOf = (port: RdmaPort): string => (port.isIwarp ? 'iWARP' : (port.text('link_layer') ?? 'unknown link'))

/** A card in a slot that is too narrow is slower than its port. */
function checkSlot(machine: Machine, device: string): Finding[] {
  const read = (name: string) => deviceText(machine, device, name)
  const [speed, speedMax] = [read('current_link_speed'), read('max_link_speed')]
  const [width, widthMax] = [read('current_link_width'), read('max_link_width')]
  if (speed === undefined || width === undefined) return []
  const has = `PCIe ${speed} x${width}`
  if (speed === speedMax && width === widthMax) return [ok('slot', `${device} has ${has}`)]
  return [
    warn(
      'slot',
      `${device} has ${has} and could have ${speedMax} x${widthMax}`,
      'use another slot, or change its settings in the firmware of the board',
    ),
  ]
}

/** RoCE needs an address that can be routed; iWARP finds its peers over TCP. */
export function checkAddresses(machine: Machine): Finding[] {
  return rdmaPorts(machine)
    .filter((port) => port.isEthernet)
    .flatMap((port) => (port.isIwarp ? [aboutIwarp(port)] : [...checkGids(port), ...checkMtu(machine, port)]))
}

/** Its peers are found by IP address, over TCP. */
function aboutIwarp(port: RdmaPort): Finding {
  return ok('iwarp', `${port.label} speaks iWARP: connect() and listen() work over it, groups use tcp0`)
}

function checkGids(port: RdmaPort): Finding[] {
  const routable = port.gids.filter(({ type, gid }) => /v2/.test(type) && !/^fe80/i.test(gid))
  const first = routable.find(({ gid }) => /^(0000:){5}ffff/i.test(gid)) ?? routable[0]
  if (first !== undefined) return [ok('gid', `${port.label} has ${first.gid} (index ${first.index}, ${first.type})`)]
  const card = port.networkCard ?? 'its network card'
  return [
    warn(
      'gid',
      `${port.label} has no routable RoCE v2 address: peers behind a router cannot be reached`,
      `ip addr add ADDRESS/24 dev ${card}`,
    ),
  ]
}

function checkMtu(machine: Machine, port: RdmaPort): Finding[] {
  const card = port.networkCard
  const mtu = card === undefined ? Number.NaN : Number(machine.text(`/sys/class/net/${card}/mtu`))
  if (!(mtu > 0)) return []
  if (mtu >= NETWORK_MTU_FOR_4096) return [ok('mtu', `${port.label}: ${mtu} bytes on ${card}`)]
  return [
    warn(
      'mtu',
      `${port.label}: ${mtu} bytes on ${card}, so packets carry at most 1024 of a possible 4096 bytes`,
      `ip link set ${card} mtu ${NETWORK_MTU_FOR_4096}, on every host and on the switch`,
    ),
  ]
}

/** Pacing keeps senders from filling the buffers of switches. */
export function checkPacing({ facts }: Machine): Finding[] {
  return Object.entries(facts.pacingKilobitsPerSecond ?? {}).map(([device, limit]) =>
    limit > 0
      ? ok('pacing', `${device} can limit each queue pair, up to ${(limit / 1e6).toFixed(1)} Gb/s`)
      : ok('pacing', `${device} cannot limit its queue pairs; senders have to keep fewer bytes outstanding`),
  )
}
