import { AetherError, messageOfThrown } from '../../native/index.ts'

/**
 * The named processors are missing on this machine, or the cpuset of this process (its container) does not allow them.
 */
export class AffinityError extends AetherError {
  override readonly name = 'AffinityError'
  /** The processors that cannot be used. */
  readonly processors: readonly number[]
  /** The processors that can be used. */
  readonly allowed: readonly number[]

  constructor(processors: readonly number[], allowed: readonly number[]) {
    const which = processors.length === 1 ? `processor ${processors[0]}` : `processors ${processors.join(', ')}`
    super(
      'ERR_AETHER_AFFINITY',
      `a thread cannot be bound to ${which}; choose from ${rangesOf(allowed)}, which this process may use`,
    )
    this.processors = processors
    this.allowed = allowed
  }
}

/** An IO thread has ended unasked, or could not be started. `cause` says why, if known. */
export class IoThreadError extends AetherError {
  override readonly name = 'IoThreadError'
  /** The index of the thread, from 0. */
  readonly thread: number
  /** Connections that ended with it. Their peers are told. */
  readonly connections: number
  /** The thread is started again after this many milliseconds; undefined: never. */
  readonly restartMs: number | undefined

  constructor(thread: number, connections: number, restartMs: number | undefined, cause: unknown) {
    const why = messageOfThrown(cause)
    const next = restartMs === undefined ? 'it is not started again' : `it is started again in ${restartMs} ms`
    super(
      'ERR_AETHER_IO_THREAD',
      `IO thread ${thread} has ended, and ${connections} of its connections: ${why}; ${next}`,
      { cause },
    )
    this.thread = thread
    this.connections = connections
    this.restartMs = restartMs
  }
}

/** `0-3,8`, as the kernel writes it. */
function rangesOf(numbers: readonly number[]): string {
  const parts: string[] = []
  for (let first = 0, last = 0; first < numbers.length; first = last + 1) {
    for (last = first; numbers[last + 1] === numbers[last]! + 1; last += 1);
    parts.push(first === last ? `${numbers[first]}` : `${numbers[first]}-${numbers[last]}`)
  }
  return parts.join(',')
}
