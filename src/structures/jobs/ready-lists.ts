import type { Heap } from '../heap/heap.ts'
import { ID_LIST_BYTES, type IdEntry, IdList } from './id-list.ts'

/** Priorities go from -10 to 10; the first list is for what a lost worker had. */
export const PRIORITY_MAX = 10
export const READY_LISTS: number = 2 * PRIORITY_MAX + 2
/** The list of jobs that came back: first of all. */
export const RETURNED_LEVEL = 0

/** The list of a priority: the higher, the earlier. */
export function levelOf(priority: number): number {
  return 1 + PRIORITY_MAX - priority
}

export function priorityOf(level: number): number {
  return 1 + PRIORITY_MAX - level
}

/**
 * Jobs that can be taken now: a list for each priority. A word says which lists were ever used, so that the others cost
 * nothing.
 */
export class ReadyLists {
  readonly #heap: Heap
  readonly #used: number
  readonly #lists: readonly IdList[]

  constructor(heap: Heap, lists: number, used: number) {
    this.#heap = heap
    this.#used = used
    this.#lists = Array.from({ length: READY_LISTS }, (_, level) => new IdList(heap, lists + level * ID_LIST_BYTES))
  }

  /** @throws HeapFullError */
  push(level: number, id: string): void {
    const { memory } = this.#heap
    const bit = 1 << level
    // Before the entry: a list whose bit is missing is not looked at.
    for (let used = memory.load(this.#used); (used & bit) === 0; used = memory.load(this.#used))
      memory.compareExchange(this.#used, used, used | bit)
    this.#lists[level]!.push(id)
  }

  /** The entry to be dealt with first, and its list. */
  first(): { readonly list: IdList; readonly entry: IdEntry } | undefined {
    for (let used = this.#heap.memory.load(this.#used); used !== 0; used &= used - 1) {
      const list = this.#lists[31 - Math.clz32(used & -used)]!
      const entry = list.first()
      if (entry !== undefined) return { list, entry }
    }
    return undefined
  }
}
