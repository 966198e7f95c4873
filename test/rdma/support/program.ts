import { type ChildProcess, spawn } from 'node:child_process'

/** Emulated guests are slow: this only matters where something hangs. */
export const PATIENCE_MS = 120_000

export interface ProgramEnd {
  /** Null where a signal ended it. */
  readonly status: number | null
  readonly output: string
}

/** A program that a test talks to, on this host or on the other one. What it prints, on either stream, is kept. */
export class Program implements Disposable {
  readonly label: string
  output = ''
  /** Resolves when it has ended and all its output is here. */
  readonly ended: Promise<ProgramEnd>
  readonly #sendSignal: (signal: NodeJS.Signals) => void
  #settle: (end: ProgramEnd) => void = () => {}
  #waiting: (() => void)[] = []
  #hasEnded = false

  constructor(label: string, sendSignal: (signal: NodeJS.Signals) => void) {
    this.label = label
    this.#sendSignal = sendSignal
    this.ended = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  /** Called by whoever carries the output. */
  take(text: string): void {
    this.output += text
    this.#wake()
  }

  /** Called by whoever carries the end. */
  finish(status: number | null): void {
    this.#hasEnded = true
    this.#settle({ status, output: this.output })
    this.#wake()
  }

  /** Waits until the output matches; rejects when the program ended before, or `patienceMs` passed. */
  async until(pattern: RegExp, patienceMs: number = PATIENCE_MS): Promise<RegExpExecArray> {
    const deadline = Date.now() + patienceMs
    for (;;) {
      const match = pattern.exec(this.output)
      if (match !== null) return match
      if (this.#hasEnded) throw new Error(`${this.label} ended and never said ${pattern}; it said:\n${this.output}`)
      const left = deadline - Date.now()
      if (left <= 0)
        throw new Error(`${this.label} did not say ${pattern} in ${patienceMs} ms; it said:\n${this.output}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#waiting.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }

  /** Waits for the end; kills the program and rejects when that takes longer than `patienceMs`. */
  async finished(patienceMs: number = PATIENCE_MS): Promise<ProgramEnd> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.kill('SIGKILL')
        reject(new Error(`${this.label} did not end in ${patienceMs} ms; it said:\n${this.output}`))
      }, patienceMs)
    })
    return await Promise.race([this.ended, late]).finally(() => clearTimeout(timer))
  }

  kill(signal: NodeJS.Signals = 'SIGTERM'): void {
    if (!this.#hasEnded) this.#sendSignal(signal)
  }

  [Symbol.dispose](): void {
    this.kill('SIGKILL')
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

/** Starts a program on this host. Its output arrives by lines: C programs would keep it back. */
export function startProgram(command: string, ...words: readonly string[]): Program {
  const child: ChildProcess = spawn('stdbuf', ['-oL', command, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  const program = new Program([command, ...words].join(' '), (signal) => child.kill(signal))
  child.stdout?.setEncoding('utf8').on('data', (text: string) => program.take(text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => program.take(text))
  child.on('error', (error) => program.take(`${error.message}\n`))
  child.on('close', (status) => program.finish(status))
  return program
}
