import { AetherError, ClosedError, mustBe } from '../native/index.ts'

/**
 * The base of every verbs object: closing twice is harmless, using a closed object throws, a parent closes its children
 * first. A child holds its parent; the parent knows its children by kind, so that they are closed in an order that the
 * provider accepts.
 */
export abstract class Closable {
  /**
   * No private name: of one that many classes have the engine forgets in hot loops which it was, and looks it up each
   * time.
   */
  private isClosed = false
  /** What error messages call this object. */
  abstract readonly label: string

  get closed(): boolean {
    return this.isClosed
  }

  /**
   * Close the children, then this object. If a child or the provider refuses (EBUSY), the error is thrown and this
   * object stays open.
   */
  close(): void {
    if (this.isClosed) return
    this.release()
    this.isClosed = true
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /** @internal */
  assertOpen(): void {
    if (this.isClosed) throw new ClosedError(this.label)
  }

  protected abstract release(): void
}

/** Children of one kind. */
export class Children<T extends Closable> {
  readonly #members = new Set<T>()

  add(child: T): T {
    this.#members.add(child)
    return child
  }

  remove(child: T): void {
    this.#members.delete(child)
  }

  get size(): number {
    return this.#members.size
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#members.values()
  }

  /** Close all, last made first. One failure does not keep the others open; the first is thrown at the end. */
  closeAll(): void {
    let failure: AetherError | undefined
    for (const child of [...this.#members].reverse()) {
      try {
        child.close()
      } catch (error) {
        if (!(error instanceof AetherError)) throw error
        failure ??= error
      }
    }
    if (failure !== undefined) throw failure
  }
}

/**
 * By its label, so that files of this room need not import each other's classes.
 * @throws ArgumentError unless it is one of that kind. `origin` says where to get one: `as openDevice() returns`.
 */
export function checkNoun(argument: string, value: unknown, label: string, origin: string): void {
  if (value instanceof Closable && value.label.startsWith(label)) return
  throw mustBe(argument, `a ${label}, as ${origin}`, value)
}
