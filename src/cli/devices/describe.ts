import { type DeviceAttributes, formatGid, openDevice, type PortAttributes } from '../../verbs/index.ts'
import { type Capabilities, probeCapabilities } from './capabilities.ts'

/** A gid as text. */
interface GidDescription {
  readonly index: number
  readonly gid: string
  readonly type: string
  readonly interfaceName?: string
}

export type PortDescription = PortAttributes & { readonly gids: readonly GidDescription[] }

/** All that `aether devices` shows of a device: one object of its `--json`. */
export interface DeviceDescription {
  readonly name: string
  readonly provider: string
  /** The gid that Aether uses by default as the source; `openDevice` can choose another. */
  readonly gid: string
  readonly ports: readonly PortDescription[]
  readonly capabilities: Capabilities
  readonly limits: Readonly<Record<string, number | string>>
}

/** Opens the device and queries it. Throws what `openDevice` throws. */
export function describeDevice(name: string): DeviceDescription {
  const device = openDevice(name)
  try {
    const { attributes } = device
    const ports = Array.from({ length: attributes.portCount }, (_, index): PortDescription => {
      const port = index + 1
      const gids = device.gids(port).map((entry) => ({ ...entry, gid: formatGid(entry.gid) }))
      return { ...device.queryPort(port), gids }
    })
    return {
      name,
      provider: attributes.provider,
      gid: formatGid(device.gid),
      ports,
      capabilities: probeCapabilities(device),
      limits: limitsOf(attributes),
    }
  } finally {
    device.close()
  }
}

function limitsOf(attributes: DeviceAttributes): Readonly<Record<string, number | string>> {
  const { name: _name, provider: _provider, linkLayer: _linkLayer, portCount: _portCount, ...limits } = attributes
  return limits
}
