import { createServer } from 'node:net'
import { mustBe } from '../../../native/index.ts'
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

/** Those whose address this machine has. */
export async function seedsHere(seeds: readonly Seed[]): Promise<readonly Seed[]> {
  const isHere = await Promise.all(seeds.map(canListenAt))
  return seeds.filter((_, index) => isHere[index])
}

/** At another port, since that of the seed may be taken. */
function canListenAt({ host }: Seed): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ host, port: 0, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
