/** A process of `aether bench arrays`: alone, or a rank of several. Its operands stay from one order to the next. */
import { join } from 'aether-dsm'
import { openArrays } from 'aether-dsm/arrays'
import { native } from 'aether-dsm/internal/native'
import { whyOf } from '../ask-process.ts'
import { endWithParent } from '../ended-by-parent.ts'
import type { ArrayMeeting, ArrayOrder, ArrayReport, FromArrayProcess, ToArrayProcess } from './array-order.ts'
import { type Act, localWorks, rankWorks, type SharedArrays } from './array-works.ts'

const [meeting = null] = JSON.parse(process.argv[2] ?? '[]') as [ArrayMeeting | null]
const group = meeting === null ? undefined : await join(meeting)
const xp = group === undefined ? await openArrays() : await openArrays(group)
let prepared: { readonly name: string; readonly act: Act } | undefined

function actOf({ op, elements }: ArrayOrder): Act {
  const name = `${op}, ${elements}`
  if (prepared?.name === name) return prepared.act
  prepared = undefined
  const act =
    group === undefined
      ? localWorks.find((work) => work.op === op)!.prepare(xp, elements)
      : rankWorks.find((work) => work.op === op)!.prepare(xp as SharedArrays, elements, group.rank, group.size)
  prepared = { name, act }
  return act
}

async function measure(order: ArrayOrder): Promise<ArrayReport> {
  const act = actOf(order)
  const isIdle = group !== undefined && group.rank > 0 && rankWorks.find(({ op }) => op === order.op)!.isOneSided
  await group?.barrier()
  const before = group === undefined ? 0 : (xp as SharedArrays).moved.bytes
  const ns: number[] = []
  for (let began = native.monotonicNs(); ns.length < order.samples && isIdle !== true; ) {
    for (let each = 0; each < order.batch; each += 1) {
      const result = act()
      // Only what waits for others is awaited: a turn of the event loop would be measured otherwise.
      if (result instanceof Promise) await result
    }
    const ended = native.monotonicNs()
    ns.push((ended - began) / order.batch)
    began = ended
  }
  const moved = group === undefined ? 0 : (xp as SharedArrays).moved.bytes - before
  await group?.barrier()
  return { ns, movedBytes: moved / (order.samples * order.batch) }
}

const send = (message: FromArrayProcess): void => void process.send?.(message)

endWithParent()
process.on('message', ({ order }: ToArrayProcess) => {
  void measure(order).then(
    (report) => send({ kind: 'measured', report }),
    (error: unknown) => send({ kind: 'failed', why: whyOf(error) }),
  )
})
send({ kind: 'ready' })
