import { CompareExchangeCommand } from './command.ts'
import type { GroupBell } from './group-bell.ts'
import type { HomeWords } from './home-words.ts'

/**
 * How a hold is let go of: `by` comes in the place of `word`, once, and nobody waits for it, because letting go is
 * synchronous, as on one machine. Whoever has not let go when the structures are closed does so then. Where the home is
 * lost there is nothing to let go of. One of those who wait for it is woken.
 */
export function letGo(home: HomeWords, offset: number, word: bigint, by: bigint, bell: GroupBell): () => void {
  const release = async (): Promise<void> => {
    if (!home.holds.delete(release)) return
    const waiting = bell.read()
    await home.run([new CompareExchangeCommand(offset, word, by), waiting]).then(
      () => bell.ring(waiting),
      () => {},
    )
  }
  home.holds.add(release)
  return () => void release()
}
