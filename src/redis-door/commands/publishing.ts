import { bytesOf, CommandFault, latin1Of, matches } from '../../index-service/index.ts'
import type { DoorClient } from '../connection/client.ts'
import type { DoorServices } from '../door-services.ts'
import { type DoorReply, NO_REPLY } from '../protocol/door-reply.ts'
import type { ListeningKind } from '../publish/subscriptions.ts'
import type { DoorCommand } from './door-command.ts'

type Run = DoorCommand['run']

/** One answer for each name: all but the last are pushed. */
function answerEach(client: DoorClient, answers: readonly DoorReply[]): DoorReply {
  for (const answer of answers.slice(0, -1)) client.line.push(answer)
  return answers.at(-1) ?? NO_REPLY
}

function subscribes(word: string, kind: ListeningKind): Run {
  return ({ publisher }, client, names) =>
    answerEach(
      client,
      names.map((name) => ({
        push: [bytesOf(word), name, publisher.subscriptions.add(client, kind, latin1Of(name))],
      })),
    )
}

function unsubscribes(word: string, kind: ListeningKind): Run {
  return ({ publisher: { subscriptions } }, client, args) => {
    const all = subscriptions.listeningOf(client)?.[kind]
    const names = args.length > 0 ? args : [...(all ?? [])].map(bytesOf)
    const answers = names.map((name) => ({
      push: [bytesOf(word), name, subscriptions.remove(client, kind, latin1Of(name))],
    }))
    if (answers.length > 0) return answerEach(client, answers)
    return { push: [bytesOf(word), null, subscriptions.remove(client, kind, '')] }
  }
}

function publishes(isSharded: boolean): Run {
  return ({ publisher }, _client, [channel, message]) => publisher.publish(channel!, message!, isSharded)
}

const reset: Run = (door, client) => {
  door.publisher.subscriptions.removeAll(client)
  door.activity.monitors.delete(client)
  client.reset(door.users.default, door.users.isOpen)
  return 'RESET'
}

/** Of a client of RESP2 that listens, an answer that looks as messages do. */
const ping: Run = (_door, client, args) => {
  if (args.length > 1) throw new CommandFault("wrong number of arguments for 'ping' command")
  const [text] = args
  if (client.protocol === 2 && client.subscriptions > 0) return [bytesOf('pong'), text ?? bytesOf('')]
  return text ?? 'PONG'
}

const HELP: readonly string[] = [
  'PUBSUB <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
  'CHANNELS [<pattern>]',
  "    Return the currently active channels matching a <pattern> (default: '*').",
  'NUMPAT',
  '    Return number of subscriptions to patterns.',
  'NUMSUB [<channel> ...]',
  '    Return the number of subscribers for the specified channels, excluding',
  '    pattern subscriptions(default: no channels).',
  'SHARDCHANNELS [<pattern>]',
  "    Return the currently active shard level channels matching a <pattern> (default: '*').",
  'SHARDNUMSUB [<shardchannel> ...]',
  '    Return the number of subscribers for the specified shard level channel(s)',
  'HELP',
  '    Prints this help.',
]

type Ask = (door: DoorServices, args: readonly Uint8Array[]) => DoorReply

function channelsOf(kind: ListeningKind): Ask {
  return ({ publisher }, [pattern]) => {
    const names = [...publisher.subscriptions.names(kind)]
    const wanted = pattern === undefined ? undefined : latin1Of(pattern)
    return names.filter((name) => wanted === undefined || matches(wanted, name)).map(bytesOf)
  }
}

function countsOf(kind: ListeningKind): Ask {
  return ({ publisher }, names) =>
    names.flatMap((name) => [name, publisher.subscriptions.of(kind, latin1Of(name))?.size ?? 0])
}

/** With how many arguments there may be; the names of commands are not counted. */
const asks: Readonly<Record<string, { readonly ask: Ask; readonly argumentsMax: number }>> = {
  channels: { ask: channelsOf('channels'), argumentsMax: 1 },
  shardchannels: { ask: channelsOf('shardChannels'), argumentsMax: 1 },
  numsub: { ask: countsOf('channels'), argumentsMax: Infinity },
  shardnumsub: { ask: countsOf('shardChannels'), argumentsMax: Infinity },
  numpat: { ask: ({ publisher }) => publisher.subscriptions.patternCount, argumentsMax: 0 },
  help: { ask: () => HELP, argumentsMax: 0 },
}

const pubsub: Run = (door, _client, [which, ...args]) => {
  const name = latin1Of(which!).toLowerCase()
  const known = asks[name]
  if (known === undefined) throw new CommandFault(`unknown subcommand '${latin1Of(which!)}'. Try PUBSUB HELP.`)
  if (args.length > known.argumentsMax) {
    // With one argument too many, Redis does not say what is wrong.
    const isOptional = known.argumentsMax === 1
    throw new CommandFault(
      isOptional
        ? `unknown subcommand or wrong number of arguments for '${latin1Of(which!)}'. Try PUBSUB HELP.`
        : `wrong number of arguments for 'pubsub|${name}' command`,
    )
  }
  return known.ask(door, args)
}

/** Messages from publishers to those who listen. */
export const publishing: readonly DoorCommand[] = [
  { name: 'subscribe', arity: -2, isForSubscribers: true, run: subscribes('subscribe', 'channels') },
  { name: 'psubscribe', arity: -2, isForSubscribers: true, run: subscribes('psubscribe', 'patterns') },
  { name: 'ssubscribe', arity: -2, isForSubscribers: true, run: subscribes('ssubscribe', 'shardChannels') },
  { name: 'unsubscribe', arity: -1, isForSubscribers: true, run: unsubscribes('unsubscribe', 'channels') },
  { name: 'punsubscribe', arity: -1, isForSubscribers: true, run: unsubscribes('punsubscribe', 'patterns') },
  { name: 'sunsubscribe', arity: -1, isForSubscribers: true, run: unsubscribes('sunsubscribe', 'shardChannels') },
  { name: 'publish', arity: 3, run: publishes(false) },
  { name: 'spublish', arity: 3, run: publishes(true) },
  { name: 'pubsub', arity: -2, run: pubsub },
  { name: 'reset', arity: 1, isOpen: true, isForSubscribers: true, inTransaction: 'at once', run: reset },
  { name: 'ping', arity: -1, isForSubscribers: true, run: ping },
]
