import { Access, describeAccess } from '../access.ts'
import { Errno, VerbsError } from '../errors.ts'

const KNOWN: number = Object.values(Access).reduce((mask: number, bit) => mask | bit, 0)

/**
 * What is wrong with the access rights, or undefined. Remote write and atomic rights need the local one
 * (ibv_reg_mr(3)). On-demand paging, huge pages and relaxed ordering are accepted and change nothing.
 */
export function accessProblem(access: number): string | undefined {
  if (!Number.isInteger(access) || (access & ~KNOWN) !== 0) return `unknown access bits in ${access}`
  const writes = (access & (Access.RemoteWrite | Access.RemoteAtomic)) !== 0
  return writes && (access & Access.LocalWrite) === 0 ? `${describeAccess(access)} needs LocalWrite too` : undefined
}

/** Throws EINVAL if the access rights are inconsistent. */
export function checkAccess(verb: string, access: number): void {
  const problem = accessProblem(access)
  if (problem !== undefined) throw new VerbsError(verb, Errno.EINVAL, problem)
}
