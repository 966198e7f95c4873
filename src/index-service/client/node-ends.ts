import { native, SystemError, type Watcher } from '../../native/index.ts'
import { openLife, type ProcessLife } from '../../runtime/index.ts'

/**
 * Sees the ends of nodes' processes on this machine. A connection ends only with the whole process, whose memory has
 * to be given back first.
 */
export class NodeEnds {
  readonly #watched = new Map<number, () => void>()
  #watcher: Watcher | undefined
  #last = 0

  /** Call `ended` once, unless the returned function was called before. */
  watch(life: ProcessLife, ended: () => void): () => void {
    const token = ++this.#last
    const descriptor = openedLife(life)
    if (descriptor === undefined) return () => undefined
    this.#watcher ??= native.createWatcher((fired) => this.#fired(fired))
    // The watcher has a duplicate.
    this.#watcher.add(token, descriptor)
    native.closeDescriptor(descriptor)
    this.#watched.set(token, ended)
    return () => this.#forget(token)
  }

  close(): void {
    this.#watched.clear()
    this.#watcher?.close()
    this.#watcher = undefined
  }

  #fired(token: number): void {
    const ended = this.#watched.get(token)
    this.#forget(token)
    ended?.()
  }

  #forget(token: number): void {
    if (this.#watched.delete(token)) this.#watcher?.remove(token)
  }
}

/** Undefined if its connection has to tell. */
function openedLife(life: ProcessLife): number | undefined {
  try {
    return openLife(life)
  } catch (error) {
    if (error instanceof SystemError) return undefined
    throw error
  }
}
