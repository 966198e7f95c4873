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
