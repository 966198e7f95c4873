const resolved = Promise.resolve()

/**
 * Run it once what runs now has ended, before anything else of the event loop. `queueMicrotask` of Node.js takes a
 * microsecond more, for an asynchronous resource of each call. What `run` throws is an unhandled rejection.
 */
export function soon(run: () => void): void {
  void resolved.then(run)
}
