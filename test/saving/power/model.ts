/** A disk that a power cut leaves in any state that the calls before it allow. */
import { closeSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Random } from '../../../src/runtime/index.ts'

/** What a disk writes as a whole. */
export const SECTOR_BYTES = 512

/** One thing that was asked of the disk. Paths are whole. */
export type Operation =
  | { readonly type: 'data'; readonly file: number; readonly at: number; readonly bytes: Buffer }
  /** `size` cuts or lengthens; `grown`: a write has gone on so far. */
  | { readonly type: 'size' | 'grown'; readonly file: number; readonly length: number }
  | { readonly type: 'name'; readonly path: string; readonly file: number }
  | { readonly type: 'directory' | 'remove'; readonly path: string }
  | { readonly type: 'rename'; readonly from: string; readonly to: string }
  | { readonly type: 'sync'; readonly file: number }
  /** In place of another that is left out. */
  | { readonly type: 'nothing' }
  | { readonly type: 'sync names'; readonly directory: string }

type DataOperation = Extract<Operation, { type: 'data' | 'size' | 'grown' }>
type NameOperation = Extract<Operation, { type: 'name' | 'directory' | 'remove' | 'rename' }>

/** How much of what was not synced reaches the disk. */
export type Share = 'nothing' | 'all' | 'some'

/**
 * The disk after some operations. What was not synced may be there or not:
 *
 * - Each sector of a file, and each change of its length, is on the disk for certain once the file was synced (fsync).
 * - A new name, a rename or a removal is once its directory was. Before that, those of a directory reach the disk in
 *   order, as on file systems with a journal, or any of them do.
 */
export class PowerCut {
  readonly #files = new Map<number, DataOperation[]>()
  readonly #pending = new Map<number, DataOperation[]>()
  readonly #names: NameOperation[] = []
  readonly #pendingNames = new Map<string, NameOperation[]>()

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) this.#take(operation)
  }

  /** Make the state in which the disk may be, below `root`, as one below `target`. */
  build(root: string, target: string, share: Share, random: Random): void {
    const moved = (path: string) => join(target, path.slice(root.length))
    const names = this.#drawNames(share, random)
    for (const [path, what] of [...names].sort(([a], [b]) => a.length - b.length)) {
      // What is in a directory that is not there is not there either.
      if (dirname(path) !== root && names.get(dirname(path)) !== 'directory') continue
      if (what === 'directory') mkdirSync(moved(path), { recursive: true, mode: 0o700 })
      else if (typeof what === 'number') this.#buildFile(moved(path), what, share, random)
    }
  }

  #take(operation: Operation): void {
    switch (operation.type) {
      case 'sync':
        this.#of(this.#files, operation.file).push(...this.#of(this.#pending, operation.file).splice(0))
        break
      case 'sync names':
        this.#names.push(...this.#of(this.#pendingNames, operation.directory).splice(0))
        break
      case 'nothing':
        break
      case 'data':
      case 'size':
      case 'grown':
        this.#of(this.#pending, operation.file).push(operation)
        break
      default:
        this.#of(this.#pendingNames, dirname('from' in operation ? operation.from : operation.path)).push(operation)
    }
  }

  #of<K, V>(lists: Map<K, V[]>, key: K): V[] {
    const list = lists.get(key) ?? []
    lists.set(key, list)
    return list
  }

  /** Paths in the order in which they came, with the number of the file. */
  #drawNames(share: Share, random: Random): ReadonlyMap<string, number | 'directory'> {
    const names = new Map<string, number | 'directory'>()
    const apply = (operation: NameOperation) => {
      if (operation.type === 'name') names.set(operation.path, operation.file)
      else if (operation.type === 'remove') names.delete(operation.path)
      else if (operation.type === 'rename') {
        const file = names.get(operation.from)
        if (file === undefined) return
        names.delete(operation.from)
        names.set(operation.to, file)
      } else names.set(operation.path, operation.type)
    }
    for (const operation of this.#names) apply(operation)
    for (const pending of this.#pendingNames.values()) {
      const isInOrder = random.below(2) === 0
      const count = isInOrder ? random.below(pending.length + 1) : pending.length
      const kept = share === 'some' ? pending.slice(0, count).filter(() => isInOrder || random.below(2) === 0) : pending
      if (share !== 'nothing') for (const operation of kept) apply(operation)
    }
    return names
  }

  #buildFile(path: string, id: number, share: Share, random: Random): void {
    const pending = this.#pending.get(id) ?? []
    // Most or few of them, not always about half.
    const outOf = 2 + random.below(8)
    const isRare = random.below(2) === 0
    const kept =
      share === 'all' ? pending : pending.filter(() => share === 'some' && (random.below(outOf) === 0) === isRare)
    const file = openSync(path, 'w', 0o600)
    try {
      let size = 0
      let isCut = false
      for (const operation of [...(this.#files.get(id) ?? []), ...kept]) {
        if (operation.type === 'data') writeSync(file, operation.bytes, 0, operation.bytes.length, operation.at)
        else if (operation.type === 'grown') size = Math.max(size, operation.length)
        else {
          isCut ||= operation.length < size
          size = operation.length
          if (isCut) ftruncateSync(file, size)
        }
      }
      ftruncateSync(file, size)
    } finally {
      closeSync(file)
    }
  }
}
