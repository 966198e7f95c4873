/** A machine for tests, whose state is all that was applied to it, and entries for it. */
import { Buffer } from 'node:buffer'
import { type Codec, json } from '../../../src/codecs/index.ts'
import { Applier, type ApplierOptions } from '../../../src/consensus/machine/applier.ts'
import type { ApplyContext, ReplicatedMachine } from '../../../src/consensus/machine/machine.ts'
import type { Outcome } from '../../../src/consensus/machine/outcome.ts'
import { type CommandName, RecordWriter } from '../../../src/consensus/machine/records.ts'

/** `throw`: the machine throws this text. */
export interface Command {
  readonly text: string
  readonly throw?: boolean
}

export class Journal implements ReplicatedMachine<Command, string> {
  lines: string[] = []

  apply(command: Command, { index, timeMs, term }: ApplyContext): string {
    this.lines.push(`${index} ${timeMs} ${term} ${command.text}`)
    if (command.throw === true) throw Object.assign(new RangeError(command.text), { code: 'TOO_MUCH' })
    return `${index}: ${command.text}`
  }

  *snapshot(): Iterable<Uint8Array> {
    for (const line of this.lines) yield Buffer.from(line)
  }

  restore(chunks: readonly Uint8Array[]): void {
    this.lines = chunks.map((chunk) => Buffer.from(chunk).toString())
  }
}

export interface Told extends CommandName {
  readonly outcome: Outcome
}

export type TestApplier = Applier<Command, string>

/** To compare: codecs give a Buffer. */
function plain(outcome: Outcome): Outcome {
  return 'bytes' in outcome ? { ...outcome, bytes: new Uint8Array(outcome.bytes) } : outcome
}

/** An applier with a journal, and what it told. */
export function journalApplier(options: Partial<ApplierOptions<Command, string>> = {}): {
  readonly journal: Journal
  readonly applier: TestApplier
  readonly told: Told[]
} {
  const journal = new Journal()
  const told: Told[] = []
  const applier = new Applier<Command, string>({
    machine: journal,
    codec: json as Codec<Command>,
    answerCodec: json as Codec<string>,
    sessionMs: 1000,
    onAnswer: (session, sequence, outcome) => told.push({ session, sequence, outcome: plain(outcome) }),
    ...options,
  })
  return { journal, applier, told }
}

export function encoded(command: Command | string): Uint8Array {
  return json.encode(typeof command === 'string' ? { text: command } : command)
}

/** A payload that `write` writes. */
export function payloadOf(write: (writer: RecordWriter) => void): Uint8Array {
  const writer = new RecordWriter()
  write(writer)
  return writer.bytes().slice()
}

/** Apply the next entry. */
export function applyNext(
  applier: TestApplier,
  write: (writer: RecordWriter) => void,
  { timeMs = 0, term = 1 }: { readonly timeMs?: number; readonly term?: number } = {},
): void {
  applier.apply({ index: applier.index + 1, term, timeMs, payload: payloadOf(write) })
}

/** Apply one command in an entry of its own. */
export function applyCommand(
  applier: TestApplier,
  name: CommandName & { readonly acknowledged?: number; readonly parts?: number },
  options: { readonly command?: Command | string; readonly timeMs?: number; readonly term?: number } = {},
): void {
  const command = options.command ?? `${name.session}/${name.sequence}`
  applyNext(applier, (writer) => writer.command({ acknowledged: 0, ...name }, encoded(command)), options)
}
