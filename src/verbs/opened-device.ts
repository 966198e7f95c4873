import type { DeviceAttributes, Gid, GidEntry, PortAttributes, ProviderDevice } from '../providers/index.ts'
import type { DeviceMeter } from './device-meter.ts'
import type { Closable } from './lifetime.ts'

/** A device, as what is made on it knows it. */
export interface OpenedDevice extends Closable {
  readonly name: string
  readonly attributes: DeviceAttributes
  readonly gid: Gid
  readonly port: number
  /** @internal */
  readonly provider: ProviderDevice
  /** @internal */
  readonly meter: DeviceMeter | undefined
  /** @internal */
  readonly onClose: Set<() => void>
  queryPort(port?: number): PortAttributes
  gids(port?: number): readonly GidEntry[]
  progress(): void
}
