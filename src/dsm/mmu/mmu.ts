/**
 * The second seam: it checks that a program does only what it has the right to do. The coherence engine knows no more
 * of memory than this.
 *
 * Pages are numbers within a region. When `protect` returns no store reaches the page's frame any more, when `unmap`
 * returns no access does; until then they may. `map…` also ends the wait of threads that faulted on the page.
 */
export interface Mmu {
  mapReadOnly(page: number): void
  mapWritable(page: number): void
  protect(page: number): void
  unmap(page: number): void
}
