import { CompareExchangeCommand } from './command.ts'
import type { GroupBell } from './group-bell.ts'
import type { HomeWords } from './home-words.ts'

/**
 * How a hold is released: `by` takes the place of `word`, once. The caller does not wait for that, because release is
 * synchronous, as on one machine. Holds that are still open when the structures are closed are released then. If the
 * home is lost there is nothing to release. One of the waiters is woken.
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
