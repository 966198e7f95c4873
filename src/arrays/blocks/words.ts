import type { DType, Elements } from '../types/dtype.ts'

/**
 * Memory as unsigned words of at most four bytes, of which an element has one, two or four. A loop that moves words
 * moves every data type, and sees three classes of typed arrays instead of ten. Beyond four the engine's code is ten
 * times slower.
 */
export interface Words {
  readonly words: Uint8Array | Uint16Array | Uint32Array
  /** Words of one element. */
  readonly each: number
}

export function wordsOf({ buffer, byteOffset, byteLength }: Elements, dtype: DType): Words {
  if (dtype.bytes === 1) return { words: new Uint8Array(buffer, byteOffset, byteLength), each: 1 }
  if (dtype.bytes === 2) return { words: new Uint16Array(buffer, byteOffset, byteLength / 2), each: 1 }
  return { words: new Uint32Array(buffer, byteOffset, byteLength / 4), each: dtype.bytes / 4 }
}

/** Where elements lie at even steps: the first, and how far it is to the next. */
export interface Steps {
  readonly words: Words['words']
  place: number
  step: number
}

/** Copies elements that lie at even steps to others that do. */
export function moveWords(to: Steps, from: Steps, count: number, each: number): void {
  const { words: target, step: writeStep } = to
  const { words: source, step: readStep } = from
  let { place: write } = to
  let { place: read } = from
  if (each === 1)
    for (let index = 0; index < count; index += 1, write += writeStep, read += readStep) target[write] = source[read]!
  else if (each === 2)
    for (let index = 0; index < count; index += 1, write += writeStep, read += readStep) {
      target[2 * write] = source[2 * read]!
      target[2 * write + 1] = source[2 * read + 1]!
    }
  else
    for (let index = 0; index < count; index += 1, write += writeStep, read += readStep)
      for (let word = 0; word < each; word += 1) target[each * write + word] = source[each * read + word]!
}
