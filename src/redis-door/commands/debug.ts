import { setTimeout as sleep } from 'node:timers/promises'
import { bytesOf, CommandFault, latin1Of, shownName } from '../../index-service/index.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import type { DoorCommand } from './door-command.ts'

/** A reply of each kind, as clients' own tests ask for it. */
const kinds: Readonly<Record<string, DoorReply>> = {
  string: bytesOf('Hello World'),
  integer: 12_345,
  // biome-ignore lint/suspicious/noApproximativeNumericConstant: Redis answers this number
  double: { double: 3.141 },
  null: null,
  array: [0, 1, 2],
  set: new Set([0, 1, 2]),
  map: {
    table: [0, { truth: false }, 1, { truth: true }, 2, { truth: false }],
  },
  push: { push: [bytesOf('server-cpu-usage'), 42] },
  verbatim: { verbatim: 'This is a verbatim\nstring' },
  true: { truth: true },
  false: { truth: false },
}

const HELP: readonly string[] = [
  'DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
  'ERROR <string>',
  '    Answers with this error.',
  'PROTOCOL <type>',
  `    Answers with a reply of this type: ${Object.keys(kinds).join(', ')}.`,
  'SET-ACTIVE-EXPIRE <0|1>',
  '    Accepted: a key that has expired is never seen, whether it was removed or not.',
  'SLEEP <seconds>',
  '    Answers after this time. Other clients do not wait.',
  'HELP',
  '    Prints this help.',
]

/** What clients' tests need, and does no harm. */
const debug: DoorCommand['run'] = async (_door, client, [which, ...args]) => {
  const name = latin1Of(which!).toLowerCase()
  const value = args[0] === undefined ? undefined : latin1Of(args[0])
  if (name === 'help' && value === undefined) return HELP
  if (args.length === 1 && name === 'sleep') {
    await sleep(Math.max(0, Number(value) * 1000) || 0, undefined, { signal: client.line.ended })
    return 'OK'
  }
  if (args.length === 1 && name === 'set-active-expire') return 'OK'
  if (args.length === 1 && name === 'protocol') {
    const reply = kinds[value!.toLowerCase()]
    if (reply !== undefined) return reply
    throw new CommandFault(`Wrong protocol type name. Please use one of the following: ${Object.keys(kinds).join('|')}`)
  }
  if (args.length === 1 && name === 'error') {
    const [code, ...words] = value!.split(' ')
    return { fault: code!, message: words.join(' ') }
  }
  throw new CommandFault(`unknown subcommand or wrong number of arguments for '${shownName(which!)}'. Try DEBUG HELP.`)
}

export const debugCommands: readonly DoorCommand[] = [{ name: 'debug', arity: -2, run: debug }]
