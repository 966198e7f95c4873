import { type Listener, listen } from '../cm/index.ts'
import { checkFunction, checkOptions, checkSignalKind, checkText, type OptionNames } from '../native/index.ts'
import { type Admission, type AdmissionOptions, admissionNames, admissionOf, admitLink } from './link-admission.ts'
import type { SharedReceiveUse } from './receive-shares.ts'
import { tellProgram } from './tell-program.ts'

/** Where to listen. */
export interface ListenPlace {
  /** Default `::`, every address of the machine. */
  readonly address?: string
  /** Default 0: a free port. */
  readonly port?: number
  readonly device?: string
  /** How many requests may wait for an answer; default 128. */
  readonly backlog?: number
  readonly signal?: AbortSignal
}

export interface ListenLinksOptions extends AdmissionOptions, ListenPlace {}

export const placeNames: OptionNames<ListenPlace> = {
  address: true,
  port: true,
  device: true,
  backlog: true,
  signal: true,
}

/** Those of a program that has no callback of its own for links, as a server of rpc. */
export const listenNames: OptionNames<Omit<ListenLinksOptions, 'onLink'>> = {
  ...placeNames,
  ...admissionNames,
  domain: true,
  onClientError: true,
}

const listenLinksNames: OptionNames<ListenLinksOptions> = { ...listenNames, onLink: true }

/** Listen for links. Keeps the program alive until it is closed. */
export async function listenLinks(options: ListenLinksOptions): Promise<LinkListener> {
  checkOptions('listenLinks', options, listenLinksNames)
  checkFunction('onLink', options?.onLink, 'that takes the link of each client')
  if (options.onClientError !== undefined) checkFunction('onClientError', options.onClientError, 'that takes the error')
  return openListener(options)
}

/** The same for callers that have checked the names of their options, which are more than those of links. */
export async function openListener(options: ListenLinksOptions): Promise<LinkListener> {
  const admission = admissionOf(options)
  return new LinkListener(await listenAt(options, options.domain?.device.name), options, admission)
}

/** Listen over the device that the options name, else over `deviceName`. */
export function listenAt(options: ListenPlace, deviceName?: string): Promise<Listener> {
  const { address, port, backlog, signal } = options
  if (address !== undefined) checkText('address', address)
  checkSignalKind('signal', signal)
  const device = options.device ?? deviceName
  return listen({
    ...(address === undefined ? {} : { address }),
    ...(port === undefined ? {} : { port }),
    ...(device === undefined ? {} : { device }),
    ...(backlog === undefined ? {} : { backlog }),
    ...(signal === undefined ? {} : { signal }),
  })
}

/** Lets peers in, each independently: one that misbehaves or goes away does not affect others. */
export class LinkListener {
  readonly #listener: Listener
  readonly #options: ListenLinksOptions
  readonly #admission: Admission

  /** @internal Made by {@link listenLinks}. */
  constructor(listener: Listener, options: ListenLinksOptions, admission: Admission) {
    this.#listener = listener
    this.#options = options
    this.#admission = admission
    this.#serve().catch((error) => tellProgram(() => this.#options.onClientError?.(error)))
  }

  get address(): string {
    return this.#listener.address
  }

  get port(): number {
    return this.#listener.port
  }

  get closed(): boolean {
    return this.#listener.closed
  }

  /**
   * With `sharedReceiveQueue`: the use of the queue, for each device over which a peer has connected. Empty once the
   * listener is closed.
   */
  get sharedReceives(): SharedReceiveUse[] {
    return this.#admission.pools?.use ?? []
  }

  /** Let no more peers in. Existing links stay. Idempotent. */
  close(): void {
    this.#listener.close()
  }

  ref(): this {
    this.#listener.ref()
    return this
  }

  unref(): this {
    this.#listener.unref()
    return this
  }

  async #serve(): Promise<void> {
    try {
      for await (const request of this.#listener) void admitLink(request, this.#options, this.#admission)
    } finally {
      this.#admission.pools?.close()
    }
  }
}
