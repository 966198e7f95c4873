/** One thing that ranks do together, in both forms: blocking the thread, or on the event loop. */
export interface Step<T = unknown> {
  readonly blocking: () => T
  readonly awaited: () => Promise<T>
}

/**
 * A computation that may have to wait for other ranks: it yields what it waits for, and is written once for both forms.
 * Where it yields nothing, as in a group of one, both end within the call.
 */
export type Steps<T> = Generator<Step, T, unknown>

/** Wait for a step within steps. */
export function* waitFor<T>(step: Step<T>): Steps<T> {
  return (yield step) as T
}

/** Do all of it now, blocking the thread. */
export function runBlocking<T>(steps: Steps<T>): T {
  let turn = steps.next()
  while (turn.done !== true) {
    const { blocking } = turn.value
    turn = resumed(steps, blocking)
  }
  return turn.value
}

/** Do it on the event loop. What needs no other rank is done when the call returns. */
export async function runAwaiting<T>(steps: Steps<T>): Promise<T> {
  let turn = steps.next()
  while (turn.done !== true) {
    let value: unknown
    try {
      value = await turn.value.awaited()
    } catch (error) {
      turn = steps.throw(error)
      continue
    }
    turn = steps.next(value)
  }
  return turn.value
}

function resumed<T>(steps: Steps<T>, wait: () => unknown): IteratorResult<Step, T> {
  let value: unknown
  try {
    value = wait()
  } catch (error) {
    return steps.throw(error)
  }
  return steps.next(value)
}
