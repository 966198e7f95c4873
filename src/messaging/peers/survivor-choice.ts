/**
 * Choose from the ranks that have answered a set in which each can reach each. As long as two have lost each other, the
 * one that has lost most is left out, or of equals the highest. (The largest such set is a maximum clique, which is
 * hard to find; losses are few.)
 */
export function chooseSurvivors(lostBy: ReadonlyMap<number, ReadonlySet<number>>): number[] {
  const left = new Set(lostBy.keys())
  for (;;) {
    let worst = -1
    let most = 0
    for (const rank of left) {
      const conflicts = conflictsOf(rank, left, lostBy)
      if (conflicts > most || (conflicts === most && most > 0 && rank > worst)) [worst, most] = [rank, conflicts]
    }
    if (most === 0) return [...left].sort((one, other) => one - other)
    left.delete(worst)
  }
}

function conflictsOf(
  rank: number,
  among: ReadonlySet<number>,
  lostBy: ReadonlyMap<number, ReadonlySet<number>>,
): number {
  let conflicts = 0
  for (const other of among)
    if (other !== rank && (lostBy.get(rank)!.has(other) || lostBy.get(other)!.has(rank))) conflicts += 1
  return conflicts
}
