import type { ElementArray } from './element-kind.ts'
import type { Kernel } from './operation.ts'

/** The caller's memory. */
export interface RunMemory {
  readonly input: ElementArray
  readonly output: ElementArray
  readonly kernel: Kernel | undefined
}
