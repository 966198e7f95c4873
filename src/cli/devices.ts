import { AetherError } from '../native/index.ts'
import { deviceNames } from '../verbs/index.ts'
import { type Command, ExitCode } from './command.ts'
import { type DeviceDescription, describeDevice } from './devices/describe.ts'
import { showDevices } from './devices/show.ts'
import { parseOptions } from './options.ts'
import { Screen } from './output/screen.ts'

const table = {
  json: { type: 'boolean', default: false },
  verbose: { type: 'boolean', short: 'v', default: false },
} as const

const help = `Usage: aether devices [name] [options]

Lists the verbs devices of this machine: the embedded device (shm0), RDMA cards and soft-RoCE. Devices called tcp0 and
tcp-INTERFACE need no RDMA. It finds out what a
device can do by creating one object of each kind.

Options:
  -v, --verbose   also print all gids and limits, which is the default with a name
  --json          print one JSON array and nothing else:
                  [{ "name", "provider", "gid", "ports": [{ "port", "state", "linkLayer", …, "gids" }],
                     "capabilities", "limits" }]

Exit status: 1 if a device cannot be opened; 'aether doctor' says what to do.

Examples:
  aether devices
  aether devices rxe0
  aether devices --json | jq '.[].ports[].state'`

/** `aether devices`. */
export const devicesCommand: Command = {
  help,
  options: table,

  async run(args) {
    const { values, positionals } = parseOptions('devices', args, table, 1)
    const [name] = positionals
    const devices: DeviceDescription[] = []
    let status: number = ExitCode.Done
    for (const each of name === undefined ? deviceNames() : [name]) {
      try {
        devices.push(describeDevice(each))
      } catch (error) {
        // A broken device must not hide the others.
        if (!(error instanceof AetherError)) throw error
        process.stderr.write(`aether: ${each}: ${error.message}\n`)
        status = ExitCode.Failed
      }
    }
    if (values.json) process.stdout.write(`${JSON.stringify(devices, undefined, 2)}\n`)
    else showDevices(new Screen(process.stdout), devices, values.verbose || name !== undefined)
    return status
  },
}
