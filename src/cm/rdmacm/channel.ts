import { native, type RdmacmAddon, type RdmacmToken, type Watcher } from '../../native/index.ts'
import type { PortSpace } from '../carrier.ts'
import { EventWords } from './event.ts'
import { RdmacmIdentifier } from './identifier.ts'
import { requireRdmacm } from './library.ts'

/** Events taken in one turn of the event loop: others want their turn, too. */
const EVENTS_A_TURN_MAX = 256
const TOKEN = 1

/** The event channel of this JavaScript environment: one descriptor, watched by the event loop, for all identifiers. */
export class EventChannel {
  readonly addon: RdmacmAddon
  readonly #identifiers = new Map<RdmacmToken, RdmacmIdentifier>()
  readonly #words = new EventWords()
  readonly #watcher: Watcher

  private constructor() {
    this.addon = requireRdmacm()
    this.#watcher = native.createWatcher(() => this.#readable())
    this.#watcher.add(TOKEN, this.addon.open())
  }

  /** Return the channel; the first caller opens it. */
  static get(): EventChannel {
    channel ??= new EventChannel()
    return channel
  }

  create(portSpace: PortSpace): RdmacmIdentifier {
    return this.#add(this.addon.createIdentifier(portSpace === 'udp'), portSpace)
  }

  remove(token: RdmacmToken): void {
    this.#identifiers.delete(token)
    this.addon.destroyIdentifier(token)
  }

  #add(token: RdmacmToken, portSpace: PortSpace): RdmacmIdentifier {
    const identifier = new RdmacmIdentifier(this, token, portSpace)
    this.#identifiers.set(token, identifier)
    return identifier
  }

  #readable(): void {
    try {
      for (let count = 0; count < EVENTS_A_TURN_MAX; count += 1) {
        if (!this.addon.nextEvent(this.#words.words, this.#words.data)) break
        this.#deliver()
      }
    } finally {
      this.#watcher.rearm(TOKEN)
    }
  }

  #deliver(): void {
    const identifier = this.#identifiers.get(this.#words.identifier)
    const token = this.#words.request
    if (token !== undefined) {
      // The listener was closed meanwhile: destroying what came for it rejects it.
      if (identifier === undefined) this.addon.destroyIdentifier(token)
      else identifier.requested(this.#add(token, identifier.portSpace), this.#words.offer())
      return
    }
    const event = identifier === undefined ? undefined : this.#words.event(identifier.portSpace)
    if (event !== undefined) identifier?.onEvent(event)
  }
}

let channel: EventChannel | undefined
