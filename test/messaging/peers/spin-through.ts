import type { Collectives } from '../../../src/collectives/index.ts'

/** A group whose ranks block. */
type Blocking = Collectives & { readonly rank: number; readonly size: number; barrierSync(): void }

/** Every collective in its blocking form, again and again. Returns one number that says it went well. */
export function spinThrough(group: Blocking): number {
  const { rank, size } = group
  const root = size - 1
  let total = 0
  for (let round = 0; round < 20; round += 1) {
    const count = round % 4 === 3 ? 50_000 : round
    const data = group.broadcastSync(new Float64Array(count).fill(rank === root ? round : -1), { root })
    const sum = group.allReduceSync(new Float64Array(count + 1).fill(rank), 'sum')
    const reduced = group.reduceSync(Int32Array.of(1), 'sum')
    const all = group.allGatherSync(Int32Array.of(rank), new Int32Array(size))
    const gathered = group.gatherSync(Int32Array.of(rank), rank === 0 ? new Int32Array(size) : undefined)
    const own = group.scatterSync(rank === 0 ? all : undefined, new Int32Array(1))
    const part = group.reduceScatterSync(new Int32Array(size).fill(1), 'sum', new Int32Array(1))
    const scanned = group.scanSync(Int32Array.of(1), 'sum')
    const before = group.exclusiveScanSync(Int32Array.of(1), 'sum')
    const exchanged = group.allToAllSync(new Int32Array(size).fill(rank), new Int32Array(size))
    const ones = Array<number>(size).fill(1)
    const varied = group.allToAllVSync(exchanged, new Int32Array(size), { sendCounts: ones, receiveCounts: ones })
    group.barrierSync()
    const right =
      data.every((value) => value === round) &&
      sum.every((value) => value === (size * (size - 1)) / 2) &&
      (rank > 0 || (reduced?.[0] === size && gathered?.join() === all.join())) &&
      own[0] === rank &&
      part[0] === size &&
      scanned[0] === rank + 1 &&
      before[0] === Math.max(1, rank) &&
      exchanged.join() === all.join() &&
      varied.every((value) => value === rank)
    if (!right) throw new Error(`round ${round} went wrong at rank ${rank}`)
    total += 1
  }
  return total
}
