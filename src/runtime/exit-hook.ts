import process from 'node:process'

const hooks = new Set<(code: number) => void>()

/**
 * Call `hook` with the status when this thread's environment exits in order. There is one listener for all hooks, since
 * Node warns about eleven.
 */
export function onExit(hook: (code: number) => void): void {
  if (hooks.size === 0) process.on('exit', runAll)
  hooks.add(hook)
}

/** Remove the hook. */
export function offExit(hook: (code: number) => void): void {
  hooks.delete(hook)
  if (hooks.size === 0) process.off('exit', runAll)
}

/** A hook that throws must not keep the others from running. */
function runAll(code: number): void {
  for (const hook of [...hooks]) {
    try {
      hook(code)
    } catch (error) {
      process.exitCode ||= 1
      process.stderr.write(`aether: while exiting: ${String(error)}\n`)
    }
  }
}
