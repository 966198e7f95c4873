/**
 * One of the clients of `aether bench rpc`, in a process of its own: calls as it is told, and says how long each took.
 */
import { native } from 'aether-dsm/internal/native'
import { whyOf } from '../ask-process.ts'
import { endWithParent } from '../ended-by-parent.ts'
import { type Lane, runLanes, warmLanes } from '../lanes.ts'
import type { WayName } from '../peers/peer-name.ts'
import type { CallMeeting } from './call-meeting.ts'
import type { CallJob, FromCaller, ToCaller } from './call-orders.ts'
import type { Caller } from './caller.ts'
import { callers } from './callers.ts'

const [way, meeting] = JSON.parse(process.argv[2]!) as [WayName, CallMeeting]
const say = (message: FromCaller): void => void process.send?.(message)
const failed = (error: unknown): void => say({ kind: 'failed', why: whyOf(error) })

function lanesOf(caller: Caller, { bytes, depth }: CallJob): readonly Lane[] {
  const data = Buffer.alloc(bytes, 1)
  return new Array<Lane>(depth).fill(() => caller.call(data))
}

async function serve(caller: Caller): Promise<void> {
  let lanes: readonly Lane[] = []
  let timeMs = 0
  const follow = async (message: ToCaller): Promise<void> => {
    if (message.kind === 'prepare') {
      lanes = lanesOf(caller, message.job)
      timeMs = message.job.timeMs
      await warmLanes(lanes, timeMs)
      say({ kind: 'prepared' })
      return
    }
    const cpuBefore = native.processorNs(true)
    const run = await runLanes(lanes, timeMs)
    say({ kind: 'measured', run, cpuNs: native.processorNs(true) - cpuBefore })
  }
  process.on('message', (message: ToCaller | Uint8Array) => {
    if (!(message instanceof Uint8Array)) void follow(message).catch(failed)
  })
  say({ kind: 'opened' })
}

// Without the process that measures, there is no reason to go on.
endWithParent()
try {
  await serve(await callers[way](meeting))
} catch (error) {
  failed(error)
}
