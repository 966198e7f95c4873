import type { WordStream } from './word-stream.ts'

/** Fills `target` with numbers in [0, 1), each of the upper 53 bits of a word. */
export function fillUniform64(stream: WordStream, target: Float64Array): void {
  for (let done = 0; done < target.length; ) {
    const run = stream.run(target.length - done)
    for (let at = 0; at < run.length; at += 2) {
      target[done] = (run[at + 1]! * 2 ** 21 + (run[at]! >>> 11)) * 2 ** -53
      done += 1
    }
  }
}

/** The same in float32, each of the upper 24 of 32 bits. */
export function fillUniform32(stream: WordStream, target: Float32Array): void {
  for (let index = 0; index < target.length; index += 1) target[index] = stream.nextFloat32()
}
