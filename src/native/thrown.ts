const NO_TEXT = 'a value without a text was thrown'

/**
 * Return the message of any thrown value. Programs throw anything, and for some values (`Object.create(null)`) even
 * `String` throws.
 */
export function messageOfThrown(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown)
  } catch {
    return NO_TEXT
  }
}

/** Return the name and the message of any thrown value. */
export function textOfThrown(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  } catch {
    return NO_TEXT
  }
}
