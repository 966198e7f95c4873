/** Memory objects that are given back at the end of a test, and what this process holds of the kernel's things. */
import { readdirSync, readFileSync } from 'node:fs'
import { native } from '../../src/native/index.ts'

export const pageBytes = 4096

/** A memory object, closed on dispose. */
export class Memory implements Disposable {
  readonly descriptor: number

  constructor(lengthBytes: number) {
    this.descriptor = native.createMemory('aether-test', lengthBytes, 0)
  }

  map(offsetBytes: number, lengthBytes: number): ArrayBuffer {
    return native.mapMemory(this.descriptor, offsetBytes, lengthBytes, 0)
  }

  [Symbol.dispose](): void {
    native.closeDescriptor(this.descriptor)
  }
}

/** A doorbell, closed on dispose. */
export class Pipe implements Disposable {
  readonly readEnd: number
  readonly writeEnd: number

  constructor() {
    ;[this.readEnd, this.writeEnd] = native.createPipe()
  }

  [Symbol.dispose](): void {
    native.closeDescriptor(this.readEnd)
    native.closeDescriptor(this.writeEnd)
  }
}

/** How many descriptors this process has open; the one that reads the folder counts each time. */
export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}

/** How many mappings of memory objects with this name this process has. */
export function mappingsOf(name: string): number {
  return readFileSync('/proc/self/maps', 'utf8')
    .split('\n')
    .filter((line) => line.includes(`/memfd:${name} `)).length
}

export function liveThreads(): number {
  return readdirSync('/proc/self/task').length
}
