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

  constructor(bytes: Uint8Array) {
    this.#memory = new LocalMemory(bytes)
    this.lengthBytes = bytes.length
  }

  load(offset: number): number {
    return this.#alive().load(offset)
  }
  store(offset: number, value: number): void {
    this.#alive().store(offset, value)
  }
  compareExchange(offset: number, expected: number, desired: number): number {
    return this.#alive().compareExchange(offset, expected, desired)
  }
  fetchAdd(offset: number, value: number): number {
    return this.#alive().fetchAdd(offset, value)
  }
  exchange(offset: number, value: number): number {
    return this.#alive().exchange(offset, value)
  }
  load64(offset: number): bigint {
    return this.#alive().load64(offset)
  }
  store64(offset: number, value: bigint): void {
    this.#alive().store64(offset, value)
  }
  compareExchange64(offset: number, expected: bigint, desired: bigint): bigint {
    return this.#alive().compareExchange64(offset, expected, desired)
  }
  fetchAdd64(offset: number, value: bigint): bigint {
    return this.#alive().fetchAdd64(offset, value)
  }
  peek(offset: number): number {
    return this.#alive().peek(offset)
  }
  poke(offset: number, value: number): void {
    this.#alive().poke(offset, value)
  }
  peekFloat(offset: number): number {
    return this.#alive().peekFloat(offset)
  }
  pokeFloat(offset: number, value: number): void {
    this.#alive().pokeFloat(offset, value)
  }
  copy(offset: number, lengthBytes: number): Uint8Array {
    return this.#alive().copy(offset, lengthBytes)
  }
  read(offset: number, target: Uint8Array, lengthBytes: number): void {
    this.#alive().read(offset, target, lengthBytes)
  }
  write(offset: number, source: Uint8Array, lengthBytes: number): void {
    this.#alive().write(offset, source, lengthBytes)
  }
  view(offset: number, lengthBytes: number): Uint8Array {
    return this.#alive().view(offset, lengthBytes)
  }
  wait(offset: number, expected: number, timeoutMs: number): void {
    this.#alive().wait(offset, expected, timeoutMs)
  }
  wake(offset: number, count: number): void {
    this.#alive().wake(offset, count)
  }

  #alive(): LocalMemory {
    if (this.callsLeft <= 0) throw new Killed('killed')
    this.callsLeft -= 1
    this.before?.()
    return this.#memory
  }
}
