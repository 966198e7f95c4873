import type { PreparedRequest } from 'aether-dsm/internal/verbs'
import { benchIpc, benchMemcpy } from './baselines.ts'
import { BenchLink } from './link.ts'
import { measure, type Operations } from './measure.ts'
import { nextMark } from './messages.ts'
import { libfabricProvider, libfabricRow } from './peers/fi-pingpong.ts'
import { type OnMissing, type PeerName, peerNames } from './peers/peer-name.ts'
import { unlessMissing } from './peers/unless-missing.ts'
import { type BenchRow, rowOf, withBaselines } from './row.ts'
import { tcpLatencyPeers } from './tcp-peers.ts'

export interface BenchOptions {
  /** Name for openDevice; default shm0. */
  readonly device?: string
  /** Message lengths; default 8 B to 1 MiB. */
  readonly sizes?: readonly number[]
  /** How long each row is measured; default 100. */
  readonly timeMs?: number
  /** Called with each row as it is done. */
  readonly onRow?: (row: BenchRow) => void
}

export interface PeersBenchOptions extends BenchOptions {
  /** Of these libfabric is measured, or over a tcp device C and UCX; unless told otherwise, all are. */
  readonly peers?: readonly PeerName[]
  /** Called with a peer that is not here; the rest is measured all the same. */
  readonly onMissing?: OnMissing
}

export const defaultSizes: readonly number[] = [8, 64, 512, 4096, 32_768, 262_144, 1_048_576]
export const DEFAULT_TIME_MS = 100
const ATOMIC_BYTES = 8

/**
 * The time of one operation between two processes, without overlap. WRITE, READ, fetch-add and compare-swap are
 * measured from post to polled completion, SEND and IPC as half of a round trip. `write-seen` is half of a WRITE
 * answered by a WRITE, each end watching its memory. The same run measures memcpy, IPC and a SEND of
 * libfabric.
 */
export async function benchLatency(options: PeersBenchOptions = {}): Promise<BenchRow[]> {
  const { device = 'shm0', sizes = defaultSizes, timeMs = DEFAULT_TIME_MS, onRow } = options
  const { peers = peerNames, onMissing } = options
  const link = await BenchLink.open(device, Math.max(...sizes, ATOMIC_BYTES))
  const rows: BenchRow[] = []
  const keep = async (row: Promise<BenchRow>): Promise<void> => {
    rows.push(await row)
    onRow?.(rows.at(-1)!)
  }
  try {
    for (const bytes of sizes) await keep(oneSided('write', link, bytes, timeMs))
    for (const bytes of sizes) await keep(oneSided('read', link, bytes, timeMs))
    await keep(oneSided('fetch-add', link, ATOMIC_BYTES, timeMs))
    await keep(oneSided('compare-swap', link, ATOMIC_BYTES, timeMs))
    for (const bytes of sizes) await keep(pingPong(link, bytes, timeMs))
    for (const bytes of sizes) await keep(watchedWrite(link, bytes, timeMs))
    for (const bytes of sizes) await keep(benchMemcpy(bytes, timeMs))
    for (const bytes of sizes) await keep(benchIpc(link, bytes, timeMs))
    const { provider: own } = link.device.attributes
    if (own === 'tcp') {
      await tcpLatencyPeers({ sizes, timeMs, peers, onMissing, keep })
    } else if (peers.includes('libfabric')) {
      await unlessMissing('libfabric', onMissing, async () => {
        const provider = await libfabricProvider()
        for (const bytes of sizes) await keep(libfabricRow('send', provider, bytes, timeMs))
      })
    }
    return withBaselines(rows, own)
  } finally {
    link.close()
  }
}

type OneSided = 'write' | 'read' | 'fetch-add' | 'compare-swap'

/** A request on the first `bytes` of both ends' memory. */
export function oneSidedRequest(op: OneSided, link: BenchLink, bytes: number): PreparedRequest {
  const fields = { local: link.memory.subarray(0, bytes), remote: link.remote }
  if (op === 'write') return link.pair.prepareWrite(fields)
  if (op === 'read') return link.pair.prepareRead(fields)
  if (op === 'fetch-add') return link.pair.prepareFetchAdd({ ...fields, add: 1n })
  return link.pair.prepareCompareSwap({ ...fields, compare: 0n, swap: 0n })
}

async function oneSided(op: OneSided, link: BenchLink, bytes: number, timeMs: number): Promise<BenchRow> {
  const request = oneSidedRequest(op, link, bytes)
  const operations = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      request.post(1)
      link.finish(1)
    }
  }
  return rowOf(op, link.device.attributes.provider, bytes, await measure(operations, timeMs, () => link.remoteCpuNs()))
}

/** SEND there, SEND back: half of it is one message. The other end spins, and its processor time counts. */
export function pingPong(link: BenchLink, bytes: number, timeMs: number): Promise<BenchRow> {
  return sends('send', 2, link, bytes, timeMs)
}

/** The same, and the whole of it: the least that a call by messages takes. */
export function sendAndReturn(link: BenchLink, bytes: number, timeMs: number): Promise<BenchRow> {
  return sends('send-return', 1, link, bytes, timeMs)
}

async function sends(
  op: string,
  perOperation: number,
  link: BenchLink,
  bytes: number,
  timeMs: number,
): Promise<BenchRow> {
  const send = link.pair.prepareSend({ local: link.memory.subarray(0, bytes) })
  const receive = link.pair.prepareReceive({ local: link.memory.subarray(bytes, 2 * bytes) })
  const operations = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      receive.post(2)
      send.post(1)
      link.finish(2)
    }
  }
  return thereAndBack(op, perOperation, link, bytes, 'echo', operations, timeMs)
}

async function thereAndBack(
  op: string,
  perOperation: number,
  link: BenchLink,
  bytes: number,
  kind: 'echo' | 'write-back' | 'watch',
  operations: Operations,
  timeMs: number,
): Promise<BenchRow> {
  const { value, remoteNs } = await link.serving(kind, bytes, () => measure(operations, timeMs, async () => 0))
  // The other end spins from first to last, warming up included: its share is that of the measured time.
  const measuredNs = value.batchNs.reduce((sum, ns) => sum + ns, 0)
  const measurement = { ...value, cpuNs: value.cpuNs + Math.min(remoteNs, measuredNs) }
  return rowOf(op, link.device.attributes.provider, bytes, measurement, perOperation)
}

/** The same with WRITEs with an immediate, which is what messages and calls travel by. */
export async function writeAndReturn(link: BenchLink, bytes: number, timeMs: number): Promise<BenchRow> {
  const write = link.pair.prepareWrite({
    local: link.memory.subarray(0, bytes),
    remote: link.remote,
    immediate: 0,
  })
  const receive = link.pair.prepareReceive({ local: [] })
  const operations = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      receive.post(2)
      write.post(1)
      link.finish(2)
    }
  }
  return thereAndBack('write-return', 1, link, bytes, 'write-back', operations, timeMs)
}

/** WRITE there, WRITE back, each end watching its memory: half of it is how long a WRITE takes to be seen. */
async function watchedWrite(link: BenchLink, bytes: number, timeMs: number): Promise<BenchRow> {
  const { memory, remote } = link
  const seen = memory.bytes
  const last = bytes - 1
  const write = link.pair.prepareWrite({ local: memory.subarray(0, bytes), remote })
  let mark = 1
  const operations = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      seen[last] = mark
      write.post(1)
      link.finish(1)
      while (Atomics.load(seen, bytes + last) !== mark) {
        link.device.progress()
        link.otherEnd.missed()
      }
      mark = nextMark(mark)
    }
  }
  seen[bytes + last] = 0
  return thereAndBack('write-seen', 2, link, bytes, 'watch', operations, timeMs)
}
