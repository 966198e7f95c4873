/** The word of `words` that is nearest to `typed`; undefined if none is near. */
export function nearestWord(typed: string, words: readonly string[]): string | undefined {
  const near = words.map((word) => ({ word, distance: editDistance(typed, word) })).filter(isNear)
  near.sort((a, b) => a.distance - b.distance)
  return near[0]?.word
}

/** Up to a third of the word may be wrong, or two letters if that is more: `rnu` is near `run`, `xyz` is not. */
function isNear({ word, distance }: { word: string; distance: number }): boolean {
  return distance < word.length && distance <= Math.max(2, Math.floor(word.length / 3))
}

/** The Levenshtein distance, computed row by row. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
