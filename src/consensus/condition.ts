import { addAbortCallback, removeAbortCallback } from '../runtime/index.ts'

/** Those who wait until something holds. Whoever changes what they wait for wakes them. */
export class Condition {
  readonly #looks = new Set<() => void>()

  /** Resolves once `holds`, now or when this was woken; rejects with the reason of `signal`, or with what `holds` throws. */
  until(holds: () => boolean, signal?: AbortSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const end = (settle: () => void): void => {
        this.#looks.delete(look)
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
      if (signal !== undefined) addAbortCallback(signal, onAbort)
      look()
    })
  }

  wake(): void {
    for (const look of [...this.#looks]) look()
  }
}
