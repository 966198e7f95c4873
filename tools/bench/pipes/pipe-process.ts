/** The far end of a pipe, in a process of its own: gives back what comes, or counts it. */
import { whyOf } from '../ask-process.ts'
import { endWithParent } from '../ended-by-parent.ts'
import type { WayName } from '../peers/peer-name.ts'
import { farEnds } from './ends.ts'
import type { Pipe, PipeMeeting } from './pipe.ts'
import type { FromFarEnd, PipeOrder } from './pipe-orders.ts'

const [way, meeting] = JSON.parse(process.argv[2]!) as [WayName, PipeMeeting]
const say = (message: FromFarEnd): void => void process.send?.(message)

function follow(pipe: Pipe, order: PipeOrder): void {
  pipe.messageBytes = order.bytes
  if (order.mode === 'echo') {
    const data = new Uint8Array(order.bytes).fill(1)
    pipe.onMessage = () => void pipe.send(data)
    return
  }
  const seen = Uint8Array.of(1)
  let count = 0
  pipe.onMessage = () => {
    count += 1
    if (count % order.every === 0) void pipe.send(seen)
  }
}

endWithParent()
try {
  const { told, pipe } = await farEnds[way](meeting)
  process.on('message', (message: PipeOrder | Uint8Array) => {
    if (message instanceof Uint8Array) return
    void pipe.then((connected) => {
      follow(connected, message)
      say({ kind: 'ready' })
    })
  })
  say({ kind: 'opened', told })
} catch (error) {
  say({ kind: 'failed', why: whyOf(error) })
}
