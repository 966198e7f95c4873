const NO_TEXT = 'something was thrown that has no text'

/**
 * The message of whatever was thrown. Programs throw anything, and of some things (`Object.create(null)`) even `String`
 * throws.
 */
export function messageOfThrown(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown)
  } catch {
    return NO_TEXT
  }
}

/** The name and the message of whatever was thrown. */
export function textOfThrown(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  } catch {
    return NO_TEXT
  }
}
