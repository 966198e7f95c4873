const [STAR, QUESTION, OPEN, CLOSE, CARET, BACKSLASH, DASH] = [0x2a, 0x3f, 0x5b, 0x5d, 0x5e, 0x5c, 0x2d]

/**
 * True if a text matches a pattern as Redis has them: `*`, `?`, `[a-z]`, `[^a]`, `\` before what stands for itself.
 * Both are latin1. It never takes longer than the product of both lengths: of stars, only the last one is tried again.
 */
export function matches(pattern: string, text: string): boolean {
  let [at, position, star, starPosition] = [0, 0, -1, 0]
  while (position < text.length || at < pattern.length) {
    const code = at < pattern.length ? pattern.charCodeAt(at) : -1
    if (code === STAR) {
      star = at
      starPosition = position
      at += 1
      continue
    }
    if (code !== -1 && position < text.length) {
      const next = matchOne(pattern, at, text.charCodeAt(position))
      if (next > 0) {
        at = next
        position += 1
        continue
      }
    }
    if (star === -1 || starPosition >= text.length) return false
    starPosition += 1
    position = starPosition
    at = star + 1
  }
  return true
}

/** Where the pattern goes on if its next part matches a character; 0 if it does not. */
function matchOne(pattern: string, at: number, character: number): number {
  const code = pattern.charCodeAt(at)
  if (code === QUESTION) return at + 1
  if (code === OPEN) return matchClass(pattern, at + 1, character)
  const isEscaped = code === BACKSLASH && at + 1 < pattern.length
  const literal = isEscaped ? pattern.charCodeAt(at + 1) : code
  return literal === character ? at + (isEscaped ? 2 : 1) : 0
}

function matchClass(pattern: string, start: number, character: number): number {
  const isNegated = pattern.charCodeAt(start) === CARET
  let at = isNegated ? start + 1 : start
  let isMatch = false
  for (; at < pattern.length && pattern.charCodeAt(at) !== CLOSE; at += 1) {
    const code = pattern.charCodeAt(at)
    if (code === BACKSLASH && at + 1 < pattern.length) {
      at += 1
      if (pattern.charCodeAt(at) === character) isMatch = true
    } else if (at + 2 < pattern.length && pattern.charCodeAt(at + 1) === DASH) {
      const end = pattern.charCodeAt(at + 2)
      if (character >= Math.min(code, end) && character <= Math.max(code, end)) isMatch = true
      at += 2
    } else if (code === character) isMatch = true
  }
  return isMatch === isNegated ? 0 : Math.min(at + 1, pattern.length)
}
