/**
 * Where a search stands: the event it has come to, the state, and what is left of the calls that are open there. A call
 * is *done*, *due* (it has to take effect before it returns) or *free* (it may, or not).
 */
export interface Configuration<State> {
  readonly state: State
  readonly calls: OpenCalls
  /** The return that comes next. */
  event: number
  readonly before: Configuration<State> | undefined
  /** Calls in the order in which they took effect since `before`. One that comes again later took effect later. */
  readonly order: number[]
  /** How many calls have taken effect. */
  length: number
}

/** So many that a word is a small integer: an array of those is copied faster than a typed one. */
const WORD_BITS = 30

/** Which calls are due and which are free, by slot. Done is what is neither. */
export class OpenCalls {
  /** For each {@link WORD_BITS} slots three words: open (due or free), due, and due overwrites. */
  readonly #words: number[]

  constructor(slots: number | number[]) {
    this.#words = typeof slots === 'number' ? new Array<number>(3 * Math.ceil(slots / WORD_BITS)).fill(0) : slots
  }

  copy(): OpenCalls {
    return new OpenCalls(this.#words.slice())
  }

  isOpen(slot: number): boolean {
    return (this.#words[wordOf(slot)]! & bitOf(slot)) !== 0
  }

  isDue(slot: number): boolean {
    return (this.#words[wordOf(slot) + 1]! & bitOf(slot)) !== 0
  }

  setFree(slot: number): void {
    this.setDone(slot)
    this.#words[wordOf(slot)]! |= bitOf(slot)
  }

  setDue(slot: number, isOverwrite: boolean): void {
    const word = wordOf(slot)
    this.#words[word]! |= bitOf(slot)
    this.#words[word + 1]! |= bitOf(slot)
    if (isOverwrite) this.#words[word + 2]! |= bitOf(slot)
  }

  setDone(slot: number): void {
    const word = wordOf(slot)
    for (let kind = 0; kind < 3; kind += 1) this.#words[word + kind]! &= ~bitOf(slot)
  }

  /** Whether whatever can follow `other` can follow this. */
  covers(other: OpenCalls): boolean {
    const [mine, others] = [this.#words, other.#words]
    for (let word = 0; word < mine.length; word += 3) {
      if ((others[word]! & ~mine[word]!) !== 0 || (mine[word + 1]! & ~others[word + 1]!) !== 0) return false
    }
    return true
  }

  open(): readonly number[] {
    return this.#slots(0)
  }

  due(): readonly number[] {
    return this.#slots(1)
  }

  dueOverwrites(): readonly number[] {
    return this.#slots(2)
  }

  #slots(kind: number): readonly number[] {
    const slots: number[] = []
    for (let word = kind; word < this.#words.length; word += 3) {
      for (let bits = this.#words[word]!; bits !== 0; bits &= bits - 1)
        slots.push(((word - kind) / 3) * WORD_BITS + 31 - Math.clz32(bits & -bits))
    }
    return slots
  }
}

function wordOf(slot: number): number {
  return 3 * Math.floor(slot / WORD_BITS)
}

function bitOf(slot: number): number {
  return 1 << (slot % WORD_BITS)
}
