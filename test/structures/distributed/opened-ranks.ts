import { Ranks } from '../../support/rank-process.ts'

export const fixture: URL = new URL('./fixtures/rank.js', import.meta.url)

/** Ranks that are processes, and have opened structures. */
export async function opened(size: number, options: object = {}): Promise<Ranks> {
  const ranks = new Ranks(fixture, size)
  await ranks.all('open', options)
  return ranks
}
