import type { RateLimiterAetherOptions } from 'aether-dsm/adapters/rate-limiter-flexible'

/** Headers of the answers. */
export const Header = {
  Visits: 'x-visits',
  Catalogue: 'x-catalogue',
  Worker: 'x-worker',
  Ticket: 'x-ticket',
} as const

export const hourMs = 3_600_000

/** A limit of `tickets` points an hour, for all visitors together. */
export function limitOptions(tickets: number): Omit<RateLimiterAetherOptions, 'storeClient'> {
  return { points: tickets, duration: hourMs / 1000, keyPrefix: 'shop' }
}
