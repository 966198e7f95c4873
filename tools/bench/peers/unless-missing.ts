import { AetherError } from 'aether-dsm/internal/native'
import type { OnMissing, PeerName } from './peer-name.ts'

/** What `work` gives; nothing where the peer is not installed or does not start, which is told. */
export async function unlessMissing<T>(
  peer: PeerName,
  onMissing: OnMissing | undefined,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AetherError)) throw error
    onMissing?.(peer, error.message)
    return undefined
  }
}
