import type { HomeWords } from './home-words.ts'

/**
 * How a hold is let go of: `by` comes in the place of `word`, once, and nobody waits for it, because letting go is synchronous, as on one machine. Whoever has not let go when the structures are closed does so then.
 * Where the home is lost there is nothing to let go of.
 */
export function letGo(home: HomeWords, offset: number, word: bigint, by: bigint): () => void {
  const release = async (): Promise<void> => {
    if (home.holds.delete(release)) await home.compareExchange64(offset, word, by).catch(() => {})
  }
  home.holds.add(release)
  return () => void release()
}
