import { latin1Of } from '../values/latin1.ts'

/**
 * What a command answers. It survives `v8.serialize`. The door writes it in the version of RESP that a client speaks.
 *
 * - Members and fields that come with something stand in `pairs`, one behind the other. RESP2 has them so, RESP3 has an
 *   array of two for each.
 * - What streams answer by key stands in `byKey`, one behind the other. RESP2 has an array of two for each, RESP3 a
 *   map.
 */
export type Reply =
  | null
  | number
  | bigint
  /** A status, such as OK. */
  | string
  | Uint8Array
  | { readonly double: number }
  | FaultReply
  | { readonly pairs: readonly Reply[] }
  | { readonly byKey: readonly Reply[] }
  | readonly Reply[]
  | ReadonlyMap<Reply, Reply>
  | ReadonlySet<Reply>

/** An error as Redis words it: its code, and the text behind that. */
export interface FaultReply {
  readonly fault: string
  readonly message: string
}

/** Ends a command with an error. The machine makes a reply of it. */
export class CommandFault extends Error {
  readonly code: string

  constructor(message: string, code: string = 'ERR') {
    super(message)
    this.code = code
  }
}

export function isFault(reply: Reply): reply is FaultReply {
  return typeof reply === 'object' && reply !== null && 'fault' in reply
}

/** Redis shows no more of a name in a message, and takes it for text of C. */
const SHOWN_CHARACTERS = 128

export function shownName(given: Uint8Array): string {
  return cText(latin1Of(given.subarray(0, SHOWN_CHARACTERS)))
}

/** As C ends text. */
export function cText(text: string): string {
  const end = text.indexOf('\0')
  return end < 0 ? text : text.slice(0, end)
}

/** The message where a command, in lower case, has no such subcommand. */
export function unknownSubcommand(command: string, given: Uint8Array): string {
  return `unknown subcommand '${shownName(given)}'. Try ${command.toUpperCase()} HELP.`
}

export function wrongType(): CommandFault {
  return new CommandFault('Operation against a key holding the wrong kind of value', 'WRONGTYPE')
}

export function syntaxFault(): CommandFault {
  return new CommandFault('syntax error')
}
