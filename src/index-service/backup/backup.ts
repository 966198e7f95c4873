import { NewFile } from '../../saving/index.ts'
import { IndexError } from '../errors.ts'
import type { IndexPort } from '../port.ts'
import { BackupWriter } from './backup-file.ts'

export interface BackupOptions {
  readonly signal?: AbortSignal
  /** Is told how many bytes of the file are done, and of how many; undefined if that is not known. */
  readonly onProgress?: (progress: { readonly bytes: number; readonly ofBytes: number | undefined }) => void
}

/** How often a shard is begun again because its node has ended, or has given it away. */
const AGAIN_MAX = 5

/**
 * Write all keys to a file, which takes its name when all of it is on the disk. All shards are written at a time.
 * Returns the length of the file.
 */
export async function writeBackup(port: IndexPort, path: string, options: BackupOptions): Promise<number> {
  const { signal, onProgress } = options
  const file = await NewFile.begin(path, signal)
  try {
    const writer = new BackupWriter(file)
    const { shards } = port
    await writer.begin({ shards, begunMs: Date.now() })
    // The first one that fails ends the others.
    const failure = new AbortController()
    await Promise.all(
      Array.from({ length: shards }, async (_, shard) => {
        try {
          for await (const items of partsOf(port, shard)) {
            signal?.throwIfAborted()
            failure.signal.throwIfAborted()
            await writer.write(shard, items)
            onProgress?.({ bytes: file.lengthBytes, ofBytes: undefined })
          }
        } catch (error) {
          failure.abort(error)
          throw error
        }
      }),
    )
    await writer.end()
    const bytes = file.lengthBytes
    await file.commit()
    return bytes
  } catch (error) {
    await file.abandon()
    throw file.failed(error)
  }
}

/** Parts of a shard. Those that came before it was begun again do not count: `state/backup-items.ts`. */
async function* partsOf(port: IndexPort, shard: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let again = 0; ; again += 1) {
    let hasBegun = false
    try {
      for await (const items of port.shard(shard).backup()) {
        hasBegun = true
        yield items
      }
      return
    } catch (error) {
      const kind = error instanceof IndexError ? error.kind : undefined
      // Where no node was found at first, it was looked for long enough.
      const mayMove = kind === 'CLOSED' || (kind === 'UNREACHABLE' && hasBegun)
      if (!mayMove || again === AGAIN_MAX) throw error
    }
  }
}
