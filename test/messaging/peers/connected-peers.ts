import { openPeers, type Peers, type PeersOptions } from '../../../src/messaging/index.ts'

export const address = '127.0.0.1'
/** Many ends share one thread here, and perhaps a busy machine. */
const PATIENCE_MS = 180_000

/** Peers on one machine, each connected to every other. */
export async function connected(size: number, options: Omit<PeersOptions, 'number'> = {}): Promise<Peers[]> {
  const given = { device: 'shm0', greetingTimeoutMs: PATIENCE_MS, ...options }
  const all = Array.from({ length: size }, (_, number) => openPeers({ number, ...given }))
  const addresses = await Promise.all(all.map((peers) => peers.listen({ address })))
  await Promise.all(all.map((peers) => peers.connectAll(addresses, { timeoutMs: PATIENCE_MS })))
  return all
}

export const closeAll = (all: readonly Peers[]): Promise<unknown> => Promise.all(all.map((peers) => peers.close()))
