import process from 'node:process'
import { Ranks } from '../../support/rank-process.ts'
import { RawClient } from './raw-client.ts'

const fixture = new URL('../fixtures/door-process.js', import.meta.url)
let indexes = 0

/** Doors of several nodes of one index, each in a process of its own. */
export interface TestDoors extends AsyncDisposable {
  connect(rank: number, protocol?: 2 | 3): Promise<RawClient>
}

/** The test calls `useRuntimeDirectory()` of `test/cluster/support.ts` first. */
export async function openDoors(
  size: number,
  { shards = 1, replicas = 1 }: { readonly shards?: number; readonly replicas?: number } = {},
): Promise<TestDoors> {
  indexes += 1
  const ranks = new Ranks(fixture, size)
  await ranks.all('join', {})
  const ports = await ranks.all<number>('open', { name: `doors-${process.pid}-${indexes}`, shards, replicas })
  const clients: RawClient[] = []
  return {
    async connect(rank, protocol) {
      const client = await RawClient.connect(ports[rank]!, protocol)
      clients.push(client)
      return client
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client[Symbol.dispose]()
      await ranks[Symbol.asyncDispose]()
    },
  }
}
