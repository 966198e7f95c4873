import { createHash } from 'node:crypto'
import process from 'node:process'
import { mustBe } from '../../native/index.ts'
import { secretOfEnvironment } from '../../runtime/index.ts'
import type { OpenDeviceOptions, Provider, ProviderDevice } from '../contract.ts'
import { Errno } from '../errors.ts'
import { IbverbsDevice } from './device.ts'
import { addonOrReason } from './library.ts'
import { attempt } from './verb.ts'

const PREFIX = 'tcp'
/** The ports that devices listen at, for firewalls. */
const PORTS_VARIABLE = 'AETHER_TCP_PORTS'
const PORT_MAX = 65_535
const KEY_BYTES = 16
const NO_KEY = new Uint8Array(0)

/**
 * Devices that need no RDMA hardware: iWARP over TCP, spoken by this process itself (native/tcp-device.h). One for each
 * network interface that is up, `tcp-eth0`, and `tcp0`, the best of them. They are driven by the same calls as the
 * devices of libibverbs.
 */
export const tcpProvider: Provider = {
  name: 'tcp',
  deviceNames(): string[] {
    const addon = addonOrReason()
    return typeof addon === 'string' ? [] : addon.tcpDeviceNames()
  },
  open(name: string, options: OpenDeviceOptions): ProviderDevice | undefined {
    if (!name.startsWith(PREFIX)) return undefined
    const addon = addonOrReason()
    if (typeof addon === 'string' || !addon.tcpDeviceNames().includes(name)) return undefined
    const key = keyOf(options.secret ?? secretOfEnvironment())
    const [first, last] = portsOfEnvironment()
    const opened = attempt(
      () => addon.openTcpDevice(name, key, first, last),
      (errno) => (errno === Errno.EADDRINUSE ? `no port of ${PORTS_VARIABLE} (${first}-${last}) is free` : undefined),
    )
    return new IbverbsDevice(addon, 'tcp', name, opened, options)
  },
}

/** The key of the device: what both ends of a connection prove to each other that they know. */
function keyOf(secret: Uint8Array | undefined): Uint8Array {
  if (secret === undefined) return NO_KEY
  return createHash('sha256').update('aether tcp device').update(secret).digest().subarray(0, KEY_BYTES)
}

/** @throws ArgumentError unless the variable is unset or like `7500-7599`. */
function portsOfEnvironment(): readonly [number, number] {
  const text = process.env[PORTS_VARIABLE] ?? ''
  if (text === '') return [0, 0]
  const [first = 0, last = 0] = (/^(\d{1,5})-(\d{1,5})$/.exec(text)?.slice(1) ?? []).map(Number)
  if (first < 1 || last < first || last > PORT_MAX) throw mustBe(PORTS_VARIABLE, "ports like '7500-7599'", text)
  return [first, last]
}
