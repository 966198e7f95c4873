import { UnsupportedError } from '../../native/index.ts'
import {
  Access,
  CompletionBatch,
  type CompletionQueue,
  CompletionStatus,
  type Device,
  type PreparedRequest,
} from '../../verbs/index.ts'

export type Protocol = 'auto' | 'mu' | 'velos'

export const PROTOCOLS: readonly Protocol[] = ['auto', 'mu', 'velos']

/** Of each kind; the first of them are for warming up. */
const ROUNDS = 24
const WARM_UP = 8
/** `mu` saves little where it does not save this part of the time. */
const WORTH = 0.8
/** What a change of rights may take at most: a fail-over waits for two. */
const CHANGE_NS_MAX = 1_000_000
/** A device that answers nothing is not waited for. */
const PROBE_NS_MAX = 1_000_000_000

/**
 * Whether slots are written by rights: see `AcceptorView`. Rights hold where the adapter of the target carries out what
 * comes, and stores a word at once. On shared memory the initiator's processor stores, and over a stream of bytes half
 * of a word may come and the rest never.
 * @throws UnsupportedError for `mu` where they do not.
 */
export function takesRights(device: Device, protocol: Protocol): boolean {
  const { linkLayer } = device.attributes
  const holds = linkLayer !== 'shared-memory' && linkLayer !== 'tcp' && linkLayer !== 'iwarp'
  if (protocol === 'auto') return holds && isWorthIt(device)
  if (holds || protocol === 'velos') return protocol === 'mu'
  throw new UnsupportedError(
    `replicate: the protocol 'mu' needs rights that hold, and those of ${device.name} do not: ` +
      "use an InfiniBand or RoCE device, or leave options.protocol at 'auto'",
  )
}

/** Compares what storing an entry takes on a connection of the device to itself. One that fails it is not worth it. */
function isWorthIt(device: Device): boolean {
  using domain = device.createProtectionDomain()
  using queue = device.createCompletionQueue({ depth: 8 })
  using pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
  using memory = domain.allocate(64, Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic)
  pair.connect(pair.endpoint)
  const local = memory.subarray(0, 8)
  const remote = { address: memory.address + 8, key: memory.remoteKey }
  const write = pair.prepareWrite({ local, remote })
  const swap = pair.prepareCompareSwap({ local, remote, compare: 0n, swap: 0n })
  const changeNs = timed(() => pair.modify({ access: Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic }))
  if (changeNs > CHANGE_NS_MAX) return false
  const writeNs = medianOf(write, queue)
  const swapNs = medianOf(swap, queue)
  return writeNs !== undefined && swapNs !== undefined && 2 * writeNs < WORTH * (writeNs + swapNs)
}

/** Undefined if it fails once, or is not carried out. */
function medianOf(request: PreparedRequest, queue: CompletionQueue): number | undefined {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    let isDone = false
    const took = timed(() => {
      isDone = isCarriedOut(request, queue)
    })
    if (!isDone) return undefined
    if (round >= WARM_UP) times.push(took)
  }
  return times.sort((a, b) => a - b)[times.length >> 1]
}

function timed(act: () => void): number {
  const begin = process.hrtime.bigint()
  act()
  return Number(process.hrtime.bigint() - begin)
}

function isCarriedOut(request: PreparedRequest, queue: CompletionQueue): boolean {
  const batch = new CompletionBatch(1)
  const until = process.hrtime.bigint() + BigInt(PROBE_NS_MAX)
  request.signaled = true
  request.post(1)
  while (queue.poll(batch) === 0) if (process.hrtime.bigint() > until) return false
  return batch.status[0] === CompletionStatus.Success
}
