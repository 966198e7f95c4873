/**
 * The other end of `aether bench messaging`, in a process of its own: an endpoint that answers, spinning where it is
 * told to.
 */
import { connectEndpoint } from 'aether-dsm/internal/messaging'
import { endWithParent } from './ended-by-parent.ts'
import { Mark, PEER_OPTIONS } from './messaging-marks.ts'

const [device = 'shm0', address = '127.0.0.1', port = '0', ringBytes = '0'] = process.argv.slice(2)
/** Empty polls between two looks at whether the parent still lives. */
const PARENT_CHECK_POLLS = 1 << 16
const parent = process.ppid
const nothing = new Uint8Array(0)

const endpoint = await connectEndpoint({
  ...PEER_OPTIONS,
  ringBytes: Number(ringBytes),
  device,
  address,
  port: Number(port),
})
let spinning = false

/** Handle messages until one says that the measurement is over. Blocks this thread. */
function spin(): void {
  for (let idle = 0; spinning; ) {
    idle = endpoint.poll() === 0 ? idle + 1 : 0
    if (idle % PARENT_CHECK_POLLS === PARENT_CHECK_POLLS - 1 && process.ppid !== parent) process.exit(0)
  }
}

endpoint.handlers = {
  receive: (data, immediate) => {
    if (immediate === undefined) return
    if (immediate === Mark.Spin) {
      spinning = true
      setImmediate(spin)
    } else if (immediate === Mark.Rest) spinning = false
    else if (immediate === Mark.Echo) {
      if (!endpoint.trySend(data)) void endpoint.send(data.slice())
    } else endpoint.trySend(nothing, Mark.Seen)
  },
  error: () => process.exit(0),
  disconnected: () => process.exit(0),
}

process.send?.('listening')
endWithParent()
