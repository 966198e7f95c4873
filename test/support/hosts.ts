import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { type Ending, RankProcess } from './rank-process.ts'

/** Runtime directories and secrets of this file's hosts. */
export const hostsFolder: string = mkdtempSync(join(tmpdir(), 'aether-test-hosts-'))
after(() => rmSync(hostsFolder, { recursive: true, force: true }))

export function secretFile(name: string, text: string, mode: number = 0o600): string {
  const path = join(hostsFolder, name)
  writeFileSync(path, text, { mode })
  return path
}

const fixture = new URL('../dsm/coherent/fixtures/rank.js', import.meta.url)
const secret = secretFile('secret', 'correct horse battery staple, and then some\n')

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1' }, resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Ranks that meet over TCP, each on a machine of its own as far as runtime directories tell machines apart. */
export class Hosts implements AsyncDisposable {
  readonly ranks: readonly RankProcess[]

  private constructor(ranks: readonly RankProcess[]) {
    this.ranks = ranks
  }

  static async start(size: number, change: (rank: number) => Record<string, string> = () => ({})): Promise<Hosts> {
    const port = await freePort()
    const start = (rank: number): RankProcess =>
      new RankProcess(fixture, {
        AETHER_RANK: String(rank),
        AETHER_SIZE: String(size),
        AETHER_RENDEZVOUS: `tcp:127.0.0.1:${port}`,
        AETHER_SECRET_FILE: secret,
        AETHER_RUNTIME_DIRECTORY: join(hostsFolder, `host-${rank}`),
        AETHER_DEVICE: 'shm0',
        ...change(rank),
      })
    return new Hosts(Array.from({ length: size }, (_, rank) => start(rank)))
  }

  on<T = unknown>(rank: number, scenario: string, ...args: readonly unknown[]): Promise<T> {
    return this.ranks[rank]!.call<T>(scenario, ...args)
  }

  all<T = unknown>(scenario: string, ...args: readonly unknown[]): Promise<T[]> {
    return Promise.all(this.ranks.map((rank) => rank.call<T>(scenario, ...args)))
  }

  kill(rank: number): Promise<Ending> {
    return this.ranks[rank]!.kill()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.ranks.map((rank) => rank.kill()))
  }
}
