import { values } from '../../rpc/index.ts'
import { benchLanes, type Lane } from './lanes.ts'
import { type BenchOptions, DEFAULT_TIME_MS } from './latency.ts'
import { measure } from './measure.ts'
import { type BenchRow, rowOf } from './row.ts'
import { RpcPeer } from './rpc-peer.ts'
import type { Order } from './rpc-service.ts'

/** Payloads unless others are asked for, in bytes. */
export const defaultRpcSizes: readonly number[] = [8, 512, 4096, 65_536]
/** Calls under way at a time. */
export const defaultDepths: readonly number[] = [1, 4, 16, 64]
/** Connections to one server. */
export const defaultClients: readonly number[] = [1, 4]
/** Calls under way of each of several clients. */
const CLIENT_DEPTH = 16
const ORDER: Order = { item: 'lamp', count: 3, price: 12.5 }
/** As it travels. */
const ORDER_BYTES = values.encode(ORDER).length

export interface RpcBenchOptions extends BenchOptions {
  readonly depths?: readonly number[]
  readonly clients?: readonly number[]
}

/**
 * Calls between two processes, there and back. `call-sync`: blocking, both ends spinning; `call-D`: D at a time, both ends in their event loops; `clients-N`: N connections to one server
 * with 16 calls each; `object-sync` and `object-64`: an object of three properties and a number, in the default codec, instead of bytes. Beside them, in the same run and with the same depths: a Unix socket and
 * child_process messages that give back what comes.
 */
export async function benchRpc(options: RpcBenchOptions = {}): Promise<BenchRow[]> {
  const { device = 'shm0', sizes = defaultRpcSizes, timeMs = DEFAULT_TIME_MS, onRow } = options
  const { depths = defaultDepths, clients = defaultClients } = options
  const rows: BenchRow[] = []
  const peer = await RpcPeer.start(device, Math.max(...clients))
  const cpu = (): Promise<number> => peer.remoteCpuNs()
  const keep = async (row: Promise<BenchRow>): Promise<void> => {
    rows.push(await peer.alive(row))
    onRow?.(rows.at(-1) as BenchRow)
  }
  const lanes = (op: string, bytes: number, provider: string, many: readonly Lane[]): Promise<void> =>
    keep(benchLanes({ op, provider, bytes }, many, timeMs, cpu))
  const { provider } = peer
  const [client] = peer.clients as [(typeof peer.clients)[number]]
  try {
    for (const bytes of sizes) await keep(blocking('call-sync', peer, bytes, timeMs, echoed(bytes, client.echoSync)))
    await keep(blocking('object-sync', peer, ORDER_BYTES, timeMs, () => client.sumSync(ORDER)))
    for (const bytes of sizes) {
      const data = new Uint8Array(bytes).fill(1)
      const lane = (): Promise<unknown> => client.echo(data)
      for (const depth of depths) await lanes(`call-${depth}`, bytes, provider, repeated(lane, depth))
      for (const count of clients) {
        const some = peer.clients.slice(0, count).map(
          (each): Lane =>
            () =>
              each.echo(data),
        )
        const many = some.flatMap((each) => repeated(each, CLIENT_DEPTH))
        await lanes(`clients-${count}`, bytes, provider, many)
      }
    }
    await lanes(
      'object-64',
      ORDER_BYTES,
      provider,
      repeated(() => client.sum(ORDER), 64),
    )
    for (const bytes of sizes) {
      const data = new Uint8Array(bytes).fill(1)
      for (const depth of depths) {
        await lanes(
          `socket-${depth}`,
          bytes,
          'unix socket',
          repeated(() => peer.socket.exchange(data), depth),
        )
        await lanes(
          `ipc-${depth}`,
          bytes,
          'child_process',
          repeated(() => peer.ipc(data), depth),
        )
      }
    }
  } finally {
    await peer.close()
  }
  return rows
}

function repeated(lane: Lane, depth: number): readonly Lane[] {
  return new Array<Lane>(depth).fill(lane)
}

/** A call that gives back what is sent. @throws Error where it does not. */
function echoed(bytes: number, echo: (data: Uint8Array) => Uint8Array): () => void {
  const data = new Uint8Array(bytes).fill(1)
  return () => {
    if (echo(data).length !== bytes) throw new Error('the call gave back something else')
  }
}

async function blocking(
  op: string,
  peer: RpcPeer,
  bytes: number,
  timeMs: number,
  call: () => unknown,
): Promise<BenchRow> {
  const operations = (count: number): void => {
    for (let index = 0; index < count; index += 1) call()
  }
  const measurement = await peer.spinning(() => measure(operations, timeMs, () => peer.remoteCpuNs()))
  return rowOf(op, peer.provider, bytes, measurement)
}
