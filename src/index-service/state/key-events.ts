/** A class of events, as the letter by which `notify-keyspace-events` of redis.conf selects it. */
export type KeyEventClass = 'g' | '$' | 'l' | 's' | 'h' | 'z' | 'x' | 't' | 'n' | 'e'

/** Is told what has happened to a key. It must not throw, nor touch the state. */
export type OnKeyEvent = (db: number, kind: KeyEventClass, event: string, key: Uint8Array) => void

/**
 * Is told that a key of a database has changed in any way; undefined: any key of any may have. `origin` is that of the
 * call, if it has one. It must not throw, nor touch the state. The key is a view.
 */
export type OnKeyChange = (key: Uint8Array | undefined, origin: number | undefined, db: number) => void

const EVENTS: Readonly<Record<KeyEventClass, readonly string[]>> = {
  g: ['del', 'expire', 'persist', 'rename_from', 'rename_to', 'move_from', 'move_to', 'copy_to', 'restore'],
  $: ['set', 'setrange', 'append', 'incrby', 'incrbyfloat', 'setbit'],
  l: ['lpush', 'rpush', 'lpop', 'rpop', 'lset', 'linsert', 'lrem', 'ltrim', 'sortstore'],
  s: ['sadd', 'srem', 'spop', 'sinterstore', 'sunionstore', 'sdiffstore'],
  h: ['hset', 'hdel', 'hincrby', 'hincrbyfloat'],
  z: [
    'zadd',
    'zincr',
    'zrem',
    'zpopmin',
    'zpopmax',
    'zremrangebyrank',
    'zremrangebyscore',
    'zremrangebylex',
    'zrangestore',
    'zunionstore',
    'zinterstore',
    'zdiffstore',
  ],
  x: ['expired'],
  e: ['evicted'],
  t: [
    'xadd',
    'xdel',
    'xtrim',
    'xsetid',
    'xgroup-create',
    'xgroup-createconsumer',
    'xgroup-delconsumer',
    'xgroup-destroy',
    'xgroup-setid',
  ],
  n: ['new'],
}

const CLASS_OF: ReadonlyMap<string, KeyEventClass> = new Map(
  Object.entries(EVENTS).flatMap(([kind, events]) => events.map((event) => [event, kind as KeyEventClass] as const)),
)

/** Listeners to what happens to keys. Each may be set and removed while the shard runs. */
export interface KeyListeners {
  readonly onEvent?: OnKeyEvent | undefined
  readonly onChange?: OnKeyChange | undefined
}

/** Tells what happens to keys: as keyspace notifications of Redis do, and that they have changed. */
export class KeyEvents {
  /** Of the command that runs, where its code names no other one; undefined: it has none. */
  command: string | undefined
  /** Of the call that runs. */
  origin: number | undefined
  readonly #listeners: KeyListeners

  constructor(listeners: KeyListeners) {
    this.#listeners = listeners
  }

  /** Someone is told what happens now. */
  get isHeard(): boolean {
    return this.#listeners.onEvent !== undefined || this.#listeners.onChange !== undefined
  }

  tell(db: number, event: string | undefined, key: Uint8Array): void {
    const { onEvent } = this.#listeners
    if (onEvent !== undefined && event !== undefined) onEvent(db, CLASS_OF.get(event)!, event, key)
  }

  /** By the call that runs. */
  changed(db: number, key: Uint8Array): void {
    this.#listeners.onChange?.(key, this.origin, db)
  }

  /** It is no one's change, also if a call has noticed: a key has expired, or was evicted. */
  gone(db: number, key: Uint8Array): void {
    this.#listeners.onChange?.(key, undefined, db)
  }

  changedAll(): void {
    this.#listeners.onChange?.(undefined, this.origin, 0)
  }
}
