import type { Mmu } from './mmu.ts'

/**
 * The mmu for hosts without userfaultfd, and for regions without views. Rights are the page words alone (see
 * page-words.ts), which the explicit calls check. There is no view that could be touched without the right.
 */
export class ExplicitMmu implements Mmu {
  mapReadOnly(): void {}
  mapWritable(): void {}
  protect(): void {}
  unmap(): void {}
}
