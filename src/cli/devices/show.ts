import type { Screen } from '../output/screen.ts'
import type { Column } from '../output/table.ts'
import { formatBytes } from '../output/units.ts'
import type { DeviceDescription, PortDescription } from './describe.ts'

const columns: readonly Column[] = [
  { title: 'device', align: 'left' },
  { title: 'provider', align: 'left' },
  { title: 'port', align: 'right' },
  { title: 'state', align: 'left' },
  { title: 'link', align: 'left' },
  { title: 'speed', align: 'right' },
  { title: 'mtu', align: 'right' },
]

/** A table of all ports, then the capabilities of each device; with `details` also its gids and limits. */
export function showDevices(screen: Screen, devices: readonly DeviceDescription[], details: boolean): void {
  screen.table(
    columns,
    devices.flatMap((device) => device.ports.map((port) => cellsOf(device, port))),
  )
  for (const device of devices) {
    screen.line()
    showDevice(screen, device, details)
  }
}

function cellsOf({ name, provider }: DeviceDescription, port: PortDescription): string[] {
  const { state, linkLayer, gigabitsPerSecond, activeMtu } = port
  const speed = gigabitsPerSecond === 0 ? '-' : `${gigabitsPerSecond} Gb/s`
  return [name, provider, String(port.port), state, linkLayer, speed, formatBytes(activeMtu)]
}

function showDevice(screen: Screen, device: DeviceDescription, details: boolean): void {
  const able = Object.entries(device.capabilities)
  const names = (wanted: boolean): string =>
    able
      .filter(([, is]) => is === wanted)
      .map(([name]) => name)
      .join(', ')
  screen.line(`  ${screen.paint('bold', device.name)}`)
  screen.line(`    source gid   ${device.gid}`)
  screen.line(`    can          ${names(true)}`)
  if (names(false) !== '') screen.line(`    cannot       ${names(false)}`)
  if (!details) return
  for (const { port, gids } of device.ports) {
    for (const { index, gid, type, interfaceName } of gids)
      screen.line(
        `    gid ${port}/${index}      ${gid}  ${type}${interfaceName === undefined ? '' : `, ${interfaceName}`}`,
      )
  }
  for (const [name, value] of Object.entries(device.limits)) screen.line(`    ${name.padEnd(26)} ${value}`)
}
