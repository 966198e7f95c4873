/**
 * Settle as `promise` does. If the signal is aborted first, call `forget` and reject with its reason; the work behind
 * `promise` goes on.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined, forget?: () => void): Promise<T> {
  if (signal === undefined) return promise
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => {
      forget?.()
      reject(signal.reason)
    }
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
