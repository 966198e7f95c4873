/**
 * Short texts that were read before, so that the names of properties, which come again and again, are neither built nor
 * looked up among all texts of the process each time. Each has one place, by a hash of its bytes (FNV-1a), and yields
 * it to the next that falls on it.
 */
const PLACES = 1024
const texts: string[] = new Array<string>(PLACES).fill('')

/** Return the text of `length` bytes of Latin-1 at `from`. */
export function shortText(bytes: Uint8Array, from: number, length: number): string {
  let hash = length
  const end = from + length
  for (let index = from; index < end; index += 1) hash = Math.imul(hash ^ bytes[index]!, 0x0100_0193)
  const place = (hash ^ (hash >>> 15)) & (PLACES - 1)
  const known = texts[place]!
  if (known.length === length && isText(known, bytes, from)) return known
  let text = ''
  for (let index = from; index < end; index += 1) text += String.fromCharCode(bytes[index]!)
  if (length <= KEPT_MAX) texts[place] = text
  return text
}

/** Of texts that are kept; the peer may say longer ones. */
const KEPT_MAX = 24

function isText(text: string, bytes: Uint8Array, from: number): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) !== bytes[from + index]) return false
  return true
}
