import { lookup } from 'node:dns/promises'
import { createServer, isIP } from 'node:net'
import { mustBe } from '../../../native/index.ts'
import { isLoopback, isOfThisMachine } from '../../../runtime/index.ts'
import { parseAddress } from '../rendezvous-place.ts'

/** An address at which a member of the group may listen. */
export interface Seed {
  readonly host: string
  readonly port: number
}

const SEEDS_MAX = 16

/** @throws ArgumentError unless `seeds` are texts like `a:7471`. */
export function parseSeeds(seeds: readonly string[]): readonly Seed[] {
  const rule = `1 to ${SEEDS_MAX} addresses like 'a:7471' or '[::1]:7471'`
  if (!Array.isArray(seeds) || seeds.length === 0 || seeds.length > SEEDS_MAX) throw mustBe('seeds', rule, seeds)
  return seeds.map((text: unknown) => {
    const seed = typeof text === 'string' ? parseAddress(text) : undefined
    if (seed === undefined) throw mustBe('seeds', rule, text)
    return seed
  })
}

export const inWords = ({ host, port }: Seed): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)

/** Where this machine listens for a seed. */
export interface SeedPlace {
  /** Undefined for all addresses. */
  readonly host: string | undefined
  readonly port: number
  /** Whether the seed is an address of this machine. */
  readonly isHere: boolean
}

/** A machine's own name often means 127.0.1.1 to itself. So for a name that leads here it listens at all addresses. */
export async function placeOfSeed({ host, port }: Seed): Promise<SeedPlace> {
  if (isIP(host) !== 0 || isLoopback(host)) return { host, port, isHere: await canListenAt(host) }
  const found = await lookup(host).catch(() => undefined)
  if (found === undefined || !isOfThisMachine(found.address)) return { host, port, isHere: false }
  return { host: undefined, port, isHere: true }
}

/** At another port, since that of the seed may be taken. */
function canListenAt(host: string): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ host, port: 0, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
