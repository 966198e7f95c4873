import type { Caller } from './caller.ts'

/** By messages of child_process to the parent, which gives them back in order. */
export function openIpcCaller(): Caller {
  const waiters: (() => void)[] = []
  process.on('message', (message: unknown) => {
    if (message instanceof Uint8Array) waiters.shift()?.()
  })
  return {
    call: (data) =>
      new Promise<void>((resolve) => {
        waiters.push(resolve)
        process.send!(data)
      }),
    close: () => {},
  }
}
