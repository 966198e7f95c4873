/** For text between tags and in attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Tenths of a pixel are fine enough. */
export function pixels(value: number): number {
  return Math.round(10 * value) / 10
}

/** The approximate width of a text in a chart. It is rather too wide than too narrow, because the font is not known. */
export function textWidth(text: string): number {
  return 7.4 * text.length
}
