/**
 * One of the processes of `aether bench collectives`: connects to the others, and carries out cells as its parent says.
 */
import { openPeers, type PeerAddress, type PeerGroup } from 'aether-dsm/internal/messaging'
import { native } from 'aether-dsm/internal/native'
import type { CollectivesCell, CollectivesReport } from './collectives-row.ts'
import { endWithParent } from './ended-by-parent.ts'

const [number = '0', device = 'shm0', address = '127.0.0.1'] = process.argv.slice(2)

type Call = () => Promise<unknown>
type Prepare = (group: PeerGroup, count: number, algorithm: never) => Call

/** Memory is taken once for all calls of a cell; sums are of zeros, which cost what others do. */
const prepares: { readonly [Name in CollectivesCell['op']]: Prepare } = {
  broadcast: (group, count, algorithm) => {
    const data = new Float64Array(count)
    return () => group.broadcast(data, { algorithm })
  },
  scatter: (group, count, algorithm) => {
    const input = group.rank === 0 ? new Float64Array(count * group.size) : undefined
    const output = new Float64Array(count)
    return () => group.scatter(input, output, { algorithm })
  },
  gather: (group, count, algorithm) => {
    const output = group.rank === 0 ? new Float64Array(count * group.size) : undefined
    const input = new Float64Array(count)
    return () => group.gather(input, output, { algorithm })
  },
  allGather: (group, count, algorithm) => {
    const [input, output] = [new Float64Array(count), new Float64Array(count * group.size)]
    return () => group.allGather(input, output, { algorithm })
  },
  reduce: (group, count, algorithm) => {
    const [input, output] = [new Float64Array(count), new Float64Array(count)]
    return () => group.reduce(input, 'sum', output, { algorithm })
  },
  allReduce: (group, count, algorithm) => {
    const [input, output] = [new Float64Array(count), new Float64Array(count)]
    return () => group.allReduce(input, 'sum', output, { algorithm })
  },
  reduceScatter: (group, count, algorithm) => {
    const [input, output] = [new Float64Array(count * group.size), new Float64Array(count)]
    return () => group.reduceScatter(input, 'sum', output, { algorithm })
  },
  scan: (group, count, algorithm) => {
    const [input, output] = [new Float64Array(count), new Float64Array(count)]
    return () => group.scan(input, 'sum', output, { algorithm })
  },
  allToAll: (group, count, algorithm) => {
    const [input, output] = [new Float64Array(count * group.size), new Float64Array(count * group.size)]
    return () => group.allToAll(input, output, { algorithm })
  },
  allToAllV: (group, count, algorithm) => {
    const [input, output] = [new Float64Array(count * group.size), new Float64Array(count * group.size)]
    const counts = Array<number>(group.size).fill(count)
    return () => group.allToAllV(input, output, { sendCounts: counts, receiveCounts: counts }, { algorithm })
  },
  barrier: (group, _, algorithm) => () => group.barrier({ algorithm }),
}

/** All begin together; one call after the other. */
async function carryOut(
  group: PeerGroup,
  { op, algorithm, count, calls }: CollectivesCell,
): Promise<CollectivesReport> {
  const call = prepares[op](group, count, algorithm as never)
  await group.barrier()
  const ns: number[] = []
  const cpuBefore = native.processorNs(true)
  for (let began = native.monotonicNs(); ns.length < calls; ) {
    await call()
    const ended = native.monotonicNs()
    ns.push(ended - began)
    began = ended
  }
  return { ns: group.rank === 0 ? ns : [], cpuNs: native.processorNs(true) - cpuBefore }
}

// Asleep between messages, so that processor time is of work and not of waiting.
const peers = openPeers({ number: Number(number), device, link: { completion: 'events' } })
const where = await peers.listen({ address })
endWithParent()
let group: PeerGroup | undefined
process.on('message', (order: PeerAddress[] | CollectivesCell) => {
  void (async () => {
    try {
      if (Array.isArray(order)) {
        await peers.connectAll(order, { timeoutMs: 60_000 })
        group = peers.group()
        process.send?.('connected')
      } else process.send?.(await carryOut(group!, order))
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
      process.exit(1)
    }
  })()
})
process.send?.(where)
