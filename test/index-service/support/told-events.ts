import { Buffer } from 'node:buffer'
import type { Reply } from '../../../src/index-service/commands/reply.ts'
import type { KeyEventClass } from '../../../src/index-service/state/key-events.ts'
import type { RespClient } from './resp-client.ts'

/** What a machine tells of a key. */
export interface KeyEvent {
  readonly db: number
  readonly kind: KeyEventClass
  readonly event: string
  readonly key: string
}

/** What happens here is not told. */
export const MARK_DATABASE = 15
/** Is sent behind a command, to know where its events end. */
export const MARK: readonly string[] = ['PUBLISH', `__keyevent@${MARK_DATABASE}__:mark`, '']
/** Redis finds out later which keys have expired. */
const EXPIRED = 'expired'

/** What redis-server tells of keys, command by command, to a connection of its own. */
export class ToldEvents {
  readonly #client: RespClient

  private constructor(client: RespClient) {
    this.#client = client
  }

  static async listen(client: RespClient): Promise<ToldEvents> {
    await client.run([
      ['CONFIG', 'SET', 'notify-keyspace-events', 'KEAn'],
      ['PSUBSCRIBE', '__keyevent@*__:*'],
    ])
    return new ToldEvents(client)
  }

  /** The events before each of the next marks. */
  async take(marks: number): Promise<string[][]> {
    const told: string[][] = []
    for (let mark = 0; mark < marks; mark += 1) {
      const events: string[] = []
      for (let event = await this.#next(); event.event !== 'mark'; event = await this.#next())
        if (event.event !== EXPIRED && event.db !== MARK_DATABASE) events.push(shownEvent(event))
      told.push(events)
    }
    return told
  }

  async #next(): Promise<Omit<KeyEvent, 'kind'>> {
    const [, , channel, key] = (await this.#client.next()) as readonly Reply[]
    const [, db, event] = /^__keyevent@(\d+)__:(.*)$/.exec(textOf(channel!))!
    return { db: Number(db), event: event!, key: textOf(key!) }
  }
}

/** Those of a machine, in the same form. */
export function shownEvents(events: readonly KeyEvent[]): string[] {
  return events.filter(({ event }) => event !== EXPIRED).map(shownEvent)
}

function shownEvent({ db, event, key }: Omit<KeyEvent, 'kind'>): string {
  return `${db} ${event} ${JSON.stringify(key)}`
}

function textOf(reply: Reply): string {
  return Buffer.from(reply as Uint8Array).toString('latin1')
}
