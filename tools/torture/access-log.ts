import { closeSync, openSync, writeSync } from 'node:fs'
import { nowUs } from '../torture-child/clock.ts'
import type { TortureAccess, TortureAccessKind, TortureOutcome } from './history.ts'
import type { Stamp } from './page-stamp.ts'

/**
 * The log of a rank. Each line is written as the access happens, so it is complete up to the moment of a kill.
 *
 * ```
 * b TIME KIND PAGE     the access starts
 * s VERSION WRITER     it has found this; a write stores only after this line
 * e TIME OUTCOME TEXT  it has ended; the text as JSON
 * ```
 */
export class AccessLog {
  readonly #descriptor: number

  constructor(path: string) {
    this.#descriptor = openSync(path, 'a')
  }

  began(kind: TortureAccessKind, page: number): void {
    this.#write(`b ${nowUs()} ${kind} ${page}`)
  }

  saw({ version, writer }: Stamp): void {
    this.#write(`s ${version} ${writer}`)
  }

  ended(outcome: TortureOutcome, text: string = ''): void {
    this.#write(`e ${nowUs()} ${outcome} ${JSON.stringify(text)}`)
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  #write(line: string): void {
    writeSync(this.#descriptor, `${line}\n`)
  }
}

/** The accesses of a rank. What had not ended is in doubt; a line that is not whole was not written. */
export function parseAccessLog(rank: number, text: string): TortureAccess[] {
  const accesses: TortureAccess[] = []
  let current: TortureAccess | undefined
  for (const line of text.split('\n').slice(0, -1)) {
    const [letter, first = '', second = '', ...rest] = line.split(' ')
    if (letter === 'b') {
      if (current !== undefined) accesses.push(current)
      current = begun(rank, Number(first), second as TortureAccessKind, Number(rest[0]))
    } else if (current !== undefined && letter === 's') {
      current = { ...current, seen: { version: Number(first), writer: Number(second) } }
    } else if (current !== undefined && letter === 'e') {
      const said = JSON.parse(rest.join(' ')) as string
      const ended = { endedUs: Number(first), outcome: second as TortureOutcome }
      accesses.push({ ...current, ...ended, text: said === '' ? undefined : said })
      current = undefined
    }
  }
  if (current !== undefined) accesses.push(current)
  return accesses
}

function begun(rank: number, beganUs: number, kind: TortureAccessKind, page: number): TortureAccess {
  return {
    rank,
    kind,
    page,
    beganUs,
    endedUs: Number.POSITIVE_INFINITY,
    outcome: 'doubt',
    seen: undefined,
    text: undefined,
  }
}
