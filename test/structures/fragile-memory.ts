import { LocalMemory } from '../../src/structures/memory/local-memory.ts'
import type { WordMemory } from '../../src/structures/memory/word-memory.ts'

/** What a process that is killed does next. */
export class Killed extends Error {}

/**
 * The memory of a process that is killed after a given number of calls: nothing that it does after that reaches the
 * memory, whatever `finally` blocks say. Since a structure does nothing that others see but by these calls, killing at
 * each of them is killing at any instruction.
 */
export class FragileMemory implements WordMemory {
  readonly lengthBytes: number
  readonly #memory: LocalMemory
  /** Calls until it is killed. */
  callsLeft: number = Number.POSITIVE_INFINITY
  /** Called before each access: the place to let somebody else go first. */
  before: (() => void) | undefined
  /** Called with what is touched. */
  touched: ((offset: number, lengthBytes: number) => void) | undefined

  constructor(bytes: Uint8Array) {
    this.#memory = new LocalMemory(bytes)
    this.lengthBytes = bytes.length
  }

  load(offset: number): number {
    return this.#alive(offset, 4).load(offset)
  }
  store(offset: number, value: number): void {
    this.#alive(offset, 4).store(offset, value)
  }
  compareExchange(offset: number, expected: number, desired: number): number {
    return this.#alive(offset, 4).compareExchange(offset, expected, desired)
  }
  fetchAdd(offset: number, value: number): number {
    return this.#alive(offset, 4).fetchAdd(offset, value)
  }
  exchange(offset: number, value: number): number {
    return this.#alive(offset, 4).exchange(offset, value)
  }
  load64(offset: number): bigint {
    return this.#alive(offset, 8).load64(offset)
  }
  store64(offset: number, value: bigint): void {
    this.#alive(offset, 8).store64(offset, value)
  }
  compareExchange64(offset: number, expected: bigint, desired: bigint): bigint {
    return this.#alive(offset, 8).compareExchange64(offset, expected, desired)
  }
  fetchAdd64(offset: number, value: bigint): bigint {
    return this.#alive(offset, 8).fetchAdd64(offset, value)
  }
  peek(offset: number): number {
    return this.#alive(offset, 4).peek(offset)
  }
  poke(offset: number, value: number): void {
    this.#alive(offset, 4).poke(offset, value)
  }
  peekFloat(offset: number): number {
    return this.#alive(offset, 8).peekFloat(offset)
  }
  pokeFloat(offset: number, value: number): void {
    this.#alive(offset, 8).pokeFloat(offset, value)
  }
  copy(offset: number, lengthBytes: number): Uint8Array {
    return this.#alive(offset, lengthBytes).copy(offset, lengthBytes)
  }
  read(offset: number, target: Uint8Array, lengthBytes: number): void {
    this.#alive(offset, lengthBytes).read(offset, target, lengthBytes)
  }
  write(offset: number, source: Uint8Array, lengthBytes: number): void {
    this.#alive(offset, lengthBytes).write(offset, source, lengthBytes)
  }
  view(offset: number, lengthBytes: number): Uint8Array {
    return this.#alive(offset, 0).view(offset, lengthBytes)
  }
  wait(offset: number, expected: number, timeoutMs: number): void {
    this.#alive(offset, 4).wait(offset, expected, timeoutMs)
  }
  wake(offset: number, count: number): void {
    this.#alive(offset, 4).wake(offset, count)
  }

  /** A call that the process makes, of the system for instance. */
  step(): void {
    if (this.callsLeft <= 0) throw new Killed('killed')
    this.callsLeft -= 1
    this.before?.()
  }

  #alive(offset: number, lengthBytes: number): LocalMemory {
    this.step()
    this.touched?.(offset, lengthBytes)
    return this.#memory
  }
}
