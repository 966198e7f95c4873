import { timerDelay } from '../runtime/index.ts'

/** Resolves when the promise is settled, or after that time. */
export function within(promise: Promise<unknown>, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(done, timerDelay(timeoutMs))
    promise.then(done, done)
  })
}
