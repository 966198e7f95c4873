/** For text between tags and in attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Tenths of a pixel are fine enough. */
export function pixels(value: number): number {
  return Math.round(10 * value) / 10
}

/**
 * About how wide a text is in the letters of a chart, rather too wide than too narrow: it is not known which font there
 * is.
 */
export function textWidth(text: string): number {
  return 7.4 * text.length
}
