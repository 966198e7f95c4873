import { bytesOf, CommandFault, latin1Of, matches } from '../../index-service/index.ts'
import type { DoorClient } from '../connection/client.ts'
import { type DoorReply, NO_REPLY } from '../protocol/door-reply.ts'
import type { ListeningKind } from '../publish/subscriptions.ts'
import type { DoorCommand } from './door-command.ts'
import { withSubcommands } from './subcommands.ts'

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
  door.tracking.stop(client)
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

function channelsOf(kind: ListeningKind): Run {
  return ({ publisher }, client, [pattern, extra]) => {
    if (extra !== undefined) {
      const name = client.lastCommand.split('|')[1]!.toUpperCase()
      throw new CommandFault(`unknown subcommand or wrong number of arguments for '${name}'. Try PUBSUB HELP.`)
    }
    const names = [...publisher.subscriptions.names(kind)]
    const wanted = pattern === undefined ? undefined : latin1Of(pattern)
    return names.filter((name) => wanted === undefined || matches(wanted, name)).map(bytesOf)
  }
}

/** Clients that know a cluster ask each node and add up. Others take the nodes for one server. */
function countsOf(kind: ListeningKind): Run {
  return async ({ publisher: { counts }, settings }, _client, names) => {
    const texts = names.map(latin1Of)
    const found = settings.isCluster ? counts.here(kind, texts) : await counts.everywhere(kind, texts)
    return names.flatMap((name, at) => [name, found[at]!])
  }
}

const pubsub = withSubcommands({
  name: 'pubsub',
  subcommands: {
    channels: channelsOf('channels'),
    shardchannels: channelsOf('shardChannels'),
    numsub: countsOf('channels'),
    shardnumsub: countsOf('shardChannels'),
    numpat: ({ publisher }) => publisher.subscriptions.patternCount,
  },
})

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
  pubsub,
  { name: 'reset', arity: 1, isOpen: true, isForSubscribers: true, inTransaction: 'at once', run: reset },
  { name: 'ping', arity: -1, isForSubscribers: true, run: ping },
]
