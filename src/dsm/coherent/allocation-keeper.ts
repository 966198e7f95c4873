import { type AllocationOutcome, type AllocationRequest, Allocations } from '../allocation/allocations.ts'

/** A question to the keeper of a region's allocations. */
export type AllocationQuestion = { readonly region: number; readonly sizeBytes: number } & (
  | { readonly allocate: AllocationRequest }
  | { readonly free: number }
)

/** The rank whose agent keeps them. */
export const ALLOCATION_KEEPER = 0

/** False for other questions. */
export function isAllocationQuestion(question: unknown): question is AllocationQuestion {
  return typeof question === 'object' && question !== null && ('allocate' in question || 'free' in question)
}

/**
 * The allocations of a group's coherent regions, in the agent of one rank. They are not kept in a page of the region,
 * since that would be lost with the rank that wrote it last. Here they are lost with one rank only, which also keeps
 * the names of the regions.
 */
export class AllocationKeeper {
  readonly #regions = new Map<number, Allocations>()

  answer(question: AllocationQuestion): AllocationOutcome {
    let allocations = this.#regions.get(question.region)
    if (allocations === undefined) {
      allocations = new Allocations(question.sizeBytes)
      this.#regions.set(question.region, allocations)
    }
    return 'free' in question ? allocations.free(question.free) : allocations.allocate(question.allocate)
  }

  /** No rank has the region open any more. */
  forget(region: number): void {
    this.#regions.delete(region)
  }
}
