import type { Placement } from '../region-request.ts'

/** Which rank is the home of each page. `block`: contiguous runs that differ by one page at most; `cyclic`: page i at rank i modulo `ranks`. */
export function homeFunction(placement: Placement, pages: number, ranks: number): (page: number) => number {
  if (placement === 'cyclic') return (page) => page % ranks
  return (page) => Math.floor((page * ranks) / pages)
}
