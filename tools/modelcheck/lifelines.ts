const WIDTH = 34

/** A sequence diagram in plain text: a column for each participant with its line of life in the middle. */
export class Lifelines {
  readonly #count: number
  readonly #lines: string[] = []

  constructor(titles: readonly string[]) {
    this.#count = titles.length
    this.#lines.push(titles.map((title) => centred(title)).join(''))
  }

  /** Text on a participant's line. */
  note(at: number, text: string): void {
    const middle = centreOf(at)
    this.#write(Math.max(0, middle - Math.floor(text.length / 2)), text)
  }

  arrow(from: number, to: number, text: string): void {
    const [left, right] = [Math.min(from, to), Math.max(from, to)].map((at) => centreOf(at)) as [number, number]
    const length = right - left - 1
    const label = ` ${text} `
    const before = Math.max(1, Math.floor((length - label.length) / 2))
    const shaft = `${'-'.repeat(before)}${label}`.padEnd(length, '-')
    this.#write(left + 1, from < to ? `${shaft.slice(0, length - 1)}>` : `<${shaft.slice(1)}`)
  }

  text(): readonly string[] {
    return this.#lines
  }

  #write(at: number, text: string): void {
    const line = Array.from({ length: this.#count }, () => centred('|')).join('')
    this.#lines.push(`${line.slice(0, at)}${text}${line.slice(at + text.length)}`.trimEnd())
  }
}

const centreOf = (column: number): number => column * WIDTH + Math.floor(WIDTH / 2)

function centred(text: string): string {
  const before = Math.max(0, Math.floor((WIDTH - text.length + 1) / 2))
  return `${' '.repeat(before)}${text}`.padEnd(WIDTH)
}
