import { Errno, VerbsError } from '../errors.ts'
import { MAX_REQUESTS, MAX_SEGMENTS } from './limits.ts'

/** EINVAL if no shared receive queue has such sizes. */
export function checkSizes(maxRequests: number, maxSegments: number): void {
  const limits: readonly [string, number, number][] = [
    ['maxRequests', maxRequests, MAX_REQUESTS],
    ['maxSegments', maxSegments, MAX_SEGMENTS],
  ]
  for (const [name, value, limit] of limits) {
    if (Number.isInteger(value) && value >= 1 && value <= limit) continue
    throw new VerbsError('ibv_create_srq', Errno.EINVAL, `${name} must be between 1 and ${limit}, not ${value}`)
  }
}

export function checkLimit(limit: number, maxRequests: number): void {
  if (Number.isInteger(limit) && limit >= 0 && limit <= maxRequests) return
  throw new VerbsError('ibv_modify_srq', Errno.EINVAL, `limit must be between 0 and maxRequests, not ${limit}`)
}

/** EINVAL if more is posted than the new size holds. */
export function checkHolds(maxRequests: number, posted: number): void {
  if (posted <= maxRequests) return
  const what = `${posted} requests are posted, and ${maxRequests} is too few for them`
  throw new VerbsError('ibv_modify_srq', Errno.EINVAL, what)
}

/** EBUSY while queue pairs use it. */
export function refuseWhileUsed(users: ReadonlySet<{ readonly number: number }>): void {
  if (users.size === 0) return
  const numbers = [...users].map((pair) => pair.number).join(', ')
  throw new VerbsError('ibv_destroy_srq', Errno.EBUSY, `queue pairs [${numbers}] still use it`)
}
