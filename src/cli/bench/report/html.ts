/** For text between tags and in attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Tenths of a pixel are fine enough. */
export function pixels(value: number): number {
  return Math.round(10 * value) / 10
}

/** About how wide a text is in the letters of a chart. */
export function textWidth(text: string): number {
  return 6.7 * text.length
}
