import type { SnapshotReader, SnapshotWriter } from '../state/snapshot-stream.ts'
import { KeptSlots } from './kept-slots.ts'

/** What a member takes besides its characters: a string, an entry of a Map, a slot of an array. */
const MEMBER_BYTES = 68
const SET_BYTES = 335

/**
 * Members that are found by name and by number. A member that is removed is replaced by the last one, so numbers are
 * the same wherever the same was done in the same order.
 */
export class MemberSet {
  readonly #members: string[] = []
  readonly #numbers = new Map<string, number>()
  #characters = 0
  /** Members that are being written as they were. */
  #kept: KeptSlots<string> | undefined

  get size(): number {
    return this.#members.length
  }

  get usedBytes(): number {
    return SET_BYTES + this.#members.length * MEMBER_BYTES + this.#characters
  }

  /** In an order that changes when a member is removed. Valid until something changes. */
  get members(): readonly string[] {
    return this.#members
  }

  has(member: string): boolean {
    return this.#numbers.has(member)
  }

  /** Its number: an index of {@link members}. */
  numberOf(member: string): number | undefined {
    return this.#numbers.get(member)
  }

  /** False if it was there. */
  add(member: string): boolean {
    if (this.#numbers.has(member)) return false
    this.#numbers.set(member, this.#members.length)
    this.#members.push(member)
    this.#characters += member.length
    return true
  }

  delete(member: string): boolean {
    const number = this.#numbers.get(member)
    if (number === undefined) return false
    this.#kept?.changing(number)
    this.#kept?.changing(this.#members.length - 1)
    this.#numbers.delete(member)
    const last = this.#members.pop()!
    if (last !== member) {
      this.#members[number] = last
      this.#numbers.set(last, number)
    }
    this.#characters -= member.length
    return true
  }

  /**
   * Members from a cursor on; 0 begins, 0 ends. It goes from the last to the first: the last one, which moves into a
   * gap, has been visited by then. So every member that stays is visited.
   */
  scan(cursor: number, count: number): { readonly cursor: number; readonly members: readonly string[] } {
    const { length } = this.#members
    const end = cursor === 0 ? length : Math.min(cursor, length)
    const start = Math.max(0, end - count)
    return { cursor: start, members: this.#members.slice(start, end).reverse() }
  }

  encode(writer: SnapshotWriter): void {
    writer.count(this.size)
    for (const member of this.#members) writer.text(member)
  }

  *encodeParts(writer: SnapshotWriter): Generator<string | undefined> {
    const kept = this.keep()
    try {
      yield
      writer.count(kept.left)
      while (kept.left > 0) {
        const member = kept.take()
        writer.text(member)
        yield member
      }
    } finally {
      this.release()
    }
  }

  /** The members of now, to be taken one by one while they change, until {@link release}. */
  keep(): KeptSlots<string> {
    this.#kept = new KeptSlots(this.#members)
    return this.#kept
  }

  release(): void {
    this.#kept = undefined
  }

  protected decodeMembers(reader: SnapshotReader): void {
    for (let left = reader.count(); left > 0; left -= 1) this.add(reader.text())
  }
}
