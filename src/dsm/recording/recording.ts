import { readFileSync } from 'node:fs'
import { AetherError } from '../../native/index.ts'
import { type RecordedArgument, type RecordedStep, type RecordingHeader, type StepCall, stepCalls } from './step.ts'

/** A file that cannot be read, is no recording, or is damaged in the middle. */
export class RecordingError extends AetherError {
  override readonly name = 'RecordingError'

  constructor(path: string, line: number | undefined, what: string, options?: ErrorOptions) {
    super('ERR_AETHER_RECORDING', `${path}${line === undefined ? '' : `, line ${line}`}: ${what}`, options)
  }
}

/** What stands in the file of a recording. */
export interface Recording {
  readonly path: string
  readonly header: RecordingHeader
  readonly steps: readonly RecordedStep[]
  /** True where the last line was cut off: the process was killed while it wrote. */
  readonly cutOff: boolean
}

/**
 * Read a file that an agent wrote under `AETHER_RECORD`.
 * @throws RecordingError if it is not a recording, or cannot be read.
 */
export function readRecording(path: string): Recording {
  const lines = textOf(path).split('\n')
  // A whole file ends with a line end, so what comes after the last one is a line that was not finished.
  const cutOff = lines.pop() !== ''
  const header = headerOf(path, lines[0] ?? '')
  const steps = lines.slice(1).map((line, index) => stepOf(path, index + 2, line))
  return { path, header, steps, cutOff }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new RecordingError(path, undefined, `cannot be read: ${(cause as Error).message}`, { cause })
  }
}

function headerOf(path: string, line: string): RecordingHeader {
  const header = parse(path, 1, line) as Partial<RecordingHeader> | null
  if (header?.format !== 'aether-recording') throw new RecordingError(path, 1, 'this file is not a recording of Aether')
  if (header.version !== 1)
    throw new RecordingError(path, 1, `the recording has version ${header.version}; this program reads version 1`)
  const { rank, ranks, protocol, state } = header
  if (!isCount(rank) || !isCount(ranks) || typeof protocol !== 'string' || !Array.isArray(state?.copies))
    throw new RecordingError(path, 1, 'the header lacks rank, ranks, protocol or state')
  return header as RecordingHeader
}

function stepOf(path: string, number: number, line: string): RecordedStep {
  const fields = parse(path, number, line)
  if (!Array.isArray(fields) || fields.length < 5) throw new RecordingError(path, number, 'this line is not a step')
  const [atNs, call, args, answers, said, error] = fields as unknown[]
  const isStep =
    typeof atNs === 'number' && isCall(call) && Array.isArray(args) && isAnswers(answers) && typeof said === 'number'
  if (!isStep) throw new RecordingError(path, number, `this line is not a step: ${line.slice(0, 80)}`)
  const step = { atNs, call, arguments: args as RecordedArgument[], answers, said }
  return typeof error === 'string' ? { ...step, error } : step
}

function parse(path: string, number: number, line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new RecordingError(path, number, 'this line is not JSON', { cause })
  }
}

function isCall(value: unknown): value is StepCall {
  return stepCalls.includes(value as StepCall)
}

function isAnswers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((answer) => typeof answer === 'number')
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
