/** Settle as `promise` does, unless the signal is aborted first: then call `forget` and reject with its reason. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal, forget: () => void): Promise<T> {
  let abort = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      forget()
      reject(signal.reason)
    }
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
