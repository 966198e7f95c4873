/** So often a process looks before it sleeps: some ten microseconds. */
const looksMax = 4000
const napMs = 0.05

/**
 * A barrier of processes on two words of shared memory, which start as zero. They count the completed barriers, and the
 * processes that have reached the next one. The barrier of a group also works between machines, but takes longer.
 */
export function createSharedBarrier(words: Int32Array, members: number): () => void {
  const nap = new Int32Array(new SharedArrayBuffer(4))
  return () => {
    const over = Atomics.load(words, 0)
    if (Atomics.add(words, 1, 1) === members - 1) {
      Atomics.store(words, 1, 0)
      Atomics.add(words, 0, 1)
      return
    }
    for (let looks = 0; Atomics.load(words, 0) === over; looks += 1)
      if (looks > looksMax) Atomics.wait(nap, 0, 0, napMs)
  }
}
