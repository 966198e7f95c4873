import type { Command } from '../memory/command.ts'
import type { Staged } from './staging-slabs.ts'

/** A batch on its way: where its operands are and its results come, and which call waits for it. */
export class BatchInFlight {
  readonly what: string
  readonly commands: readonly Command[]
  readonly staged: Staged
  readonly #resolve: () => void
  readonly #reject: (error: Error) => void

  constructor(
    what: string,
    commands: readonly Command[],
    staged: Staged,
    { resolve, reject }: { readonly resolve: () => void; readonly reject: (error: Error) => void },
  ) {
    this.what = what
    this.commands = commands
    this.staged = staged
    this.#resolve = resolve
    this.#reject = reject
    let at = 0
    for (const command of commands) {
      if (command.kind === 'write') staged.bytes.set(command.bytes, at)
      at += room(command)
    }
  }

  /** Its commands with the place of each in the staged bytes. */
  *places(): Generator<readonly [Command, number]> {
    let at = 0
    for (const command of this.commands) {
      yield [command, at]
      at += room(command)
    }
  }

  /** All of it has been carried out. */
  settle(): void {
    const { bytes } = this.staged
    for (const [command, at] of this.places()) {
      if (command.kind === 'read') command.bytes = bytes.slice(at, at + command.length)
      else if (command.kind !== 'write') command.before = wordAt(bytes, at)
    }
    this.staged.giveBack()
    this.#resolve()
  }

  /** It was not carried out, or that is unknown. Memory that a device may still write into is not used again. */
  fail(error: Error): void {
    this.#reject(error)
  }
}

/** Bytes that a batch needs. */
export function stagedBytes(commands: readonly Command[]): number {
  return commands.reduce((sum, command) => sum + room(command), 0)
}

function room(command: Command): number {
  return (command.length + 7) & ~7
}

/** In host order, as devices leave it. */
function wordAt(bytes: Uint8Array, at: number): bigint {
  return new BigUint64Array(bytes.buffer, bytes.byteOffset + at, 1)[0]!
}
