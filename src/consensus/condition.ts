import { addAbortCallback, KeepAlive, removeAbortCallback } from '../runtime/index.ts'

/** Those who wait until something holds, and keep the event loop alive. A change of it has to wake them. */
export class Condition {
  readonly #looks = new Set<() => void>()
  readonly #keepAlive = new KeepAlive()

  /**
   * Resolves once `holds()`, now or when this was woken. Rejects with the reason of `signal`, or with what `holds()`
   * throws.
   */
  until(holds: () => boolean, signal?: AbortSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const end = (settle: () => void): void => {
        this.#looks.delete(look)
        this.#keepAlive.release()
        if (signal !== undefined) removeAbortCallback(signal, onAbort)
        settle()
      }
      const onAbort = (): void => end(() => reject(signal!.reason))
      const look = (): void => {
        try {
          if (holds()) end(resolve)
        } catch (error) {
          end(() => reject(error))
        }
      }
      if (signal?.aborted === true) return reject(signal.reason)
      this.#looks.add(look)
      this.#keepAlive.hold()
      if (signal !== undefined) addAbortCallback(signal, onAbort)
      look()
    })
  }

  wake(): void {
    for (const look of [...this.#looks]) look()
  }
}
