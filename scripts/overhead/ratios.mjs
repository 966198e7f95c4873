/** Ratios of short measurements that took turns. */

/**
 * Every way twice in a round: there and back, so that a machine that gets slower hits all alike; each round begins with
 * another.
 */
export function orderOf(ways, round) {
  const there = ways.map((_, index) => ways[(index + round) % ways.length])
  return [...there, ...there.toReversed()]
}

/**
 * One round: the mean of the two figures of each way, by figure and way. `play(way)` gives figures by name.
 */
export async function playRound(ways, round, play) {
  const found = new Map()
  for (const way of orderOf(ways, round)) {
    for (const [figure, value] of Object.entries(await play(way))) {
      const ofWays = found.get(figure) ?? found.set(figure, new Map()).get(figure)
      ofWays.set(way, (ofWays.get(way) ?? 0) + value / 2)
    }
  }
  return found
}

export const median = (numbers) => {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * A table of Markdown. `sets` are the rounds of each set of processes; the first way is what the others are held
 * against.
 */
export function ratioTable(title, ways, sets, format) {
  const [base, ...others] = ways
  const lines = [...sets[0][0].keys()].map((figure) => {
    const ratiosOf = (rounds, way) => rounds.map((round) => round.get(figure).get(way) / round.get(figure).get(base))
    const cells = others.map((way) => {
      const ofSets = sets.map((rounds) => median(ratiosOf(rounds, way)))
      const all = median(sets.flatMap((rounds) => ratiosOf(rounds, way)))
      return `${all.toFixed(3)} (${Math.min(...ofSets).toFixed(2)}–${Math.max(...ofSets).toFixed(2)})`
    })
    const plain = format(figure, median(sets.flat().map((round) => round.get(figure).get(base))))
    return `| ${figure} | ${plain} | ${cells.join(' | ')} |`
  })
  return [`| ${title} | ${ways.join(' | ')} |`, `|${'---|'.repeat(ways.length + 1)}`, ...lines].join('\n')
}
