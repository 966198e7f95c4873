import { Errno, VerbsError } from '../errors.ts'
import { MAX_COMPLETIONS } from './limits.ts'

/** EINVAL if there can be no completion queue like that. */
export function checkNewQueue(depth: number, vector: number): void {
  checkDepth('ibv_create_cq', depth)
  if (vector !== 0)
    throw new VerbsError('ibv_create_cq', Errno.EINVAL, `vector must be below completionVectors (1), not ${vector}`)
}

/** EINVAL if a queue with that many completions cannot be given that depth. */
export function checkResize(depth: number, waiting: number): void {
  checkDepth('ibv_resize_cq', depth)
  if (waiting <= depth) return
  const what = `${waiting} completions are waiting, and ${depth} is too few for them`
  throw new VerbsError('ibv_resize_cq', Errno.EINVAL, what)
}

/** EBUSY while something completes there. */
export function refuseWhileFed(users: Iterable<{ readonly label: string }>): void {
  const labels = [...new Set(users)].map((user) => user.label)
  if (labels.length > 0) throw new VerbsError('ibv_destroy_cq', Errno.EBUSY, `still used by: ${labels.join(', ')}`)
}

function checkDepth(verb: string, depth: number): void {
  if (depth > MAX_COMPLETIONS)
    throw new VerbsError(verb, Errno.EINVAL, `a queue holds at most ${MAX_COMPLETIONS} completions, not ${depth}`)
}
