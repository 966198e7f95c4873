import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { TorturePlace } from './torture-plan.ts'

/** What each rank of a group is told about where the others are. */
export type MeetingPlace = (rank: number) => Readonly<Record<string, string>>

/**
 * Where a group of `size` meets. Hosts are told apart by runtime directories, which lie in `folder` with everything
 * else that the group leaves there. A port is free when it is chosen, but another program may take it
 * before rank 0 does.
 */
export async function meetingPlace(place: TorturePlace, size: number, folder: string): Promise<MeetingPlace> {
  const common = { AETHER_SIZE: String(size), AETHER_DEVICE: 'shm0', AETHER_LEASE_MS: '' }
  const runtime = (name: string): { AETHER_RUNTIME_DIRECTORY: string } => {
    const path = join(folder, name)
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return { AETHER_RUNTIME_DIRECTORY: path }
  }
  if (place === 'machine') {
    const machine = { ...common, ...runtime('machine'), AETHER_RENDEZVOUS: 'local:torture' }
    return (rank) => ({ ...machine, AETHER_RANK: String(rank) })
  }
  const secret = join(folder, 'secret')
  writeFileSync(secret, randomBytes(32).toString('hex'), { mode: 0o600 })
  const meeting = { AETHER_RENDEZVOUS: `tcp:127.0.0.1:${await freePort()}`, AETHER_SECRET_FILE: secret }
  return (rank) => ({ ...common, ...meeting, ...runtime(`host-${rank}`), AETHER_RANK: String(rank) })
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port: 0, host: '127.0.0.1' }, resolve)
  })
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}
