import { checkOptions, mustBe, type OptionNames } from '../native/index.ts'
import { type Destination, type Gid, type QueuePair, QueuePairState } from '../verbs/index.ts'
import { type ConnectionAddress, checkMulticastAddress, connectionAddress } from './address.ts'
import type { ConnectionIdentifier, DatagramPeer } from './carrier.ts'
import { chooseCarrier, type DeviceChoice } from './carriers.ts'
import { ConnectionPair, checkPairOptions, type PairOptions } from './connection-pair.ts'
import { DatagramDestination } from './datagram.ts'
import { checkWaitValues, Deadline, type WaitOptions, waitNames } from './deadline.ts'
import { ConnectionError } from './errors.ts'
import { errorOf } from './event-error.ts'
import { deviceNames, pairNames } from './option-names.ts'

export interface MulticastOptions extends DeviceChoice, PairOptions, WaitOptions {
  /** The group: IPv4 224.0.0.0 to 239.255.255.255, IPv6 ff00::/8. */
  readonly address: string
  /** A local address, which selects the device. Default: as the routing table says for the group. */
  readonly source?: string
}

const multicastNames: OptionNames<MulticastOptions> = {
  address: true,
  source: true,
  ...deviceNames,
  ...pairNames,
  ...waitNames,
}

/**
 * Join a multicast group with a UD queue pair: rdma_join_multicast(3).
 * @throws ConnectionError if no device leads there or the network refuses; TimeoutError; the signal's reason. On
 * failure nothing is left behind.
 */
export async function joinMulticast(options: MulticastOptions): Promise<MulticastGroup> {
  if (options === undefined) throw mustBe('options', 'an object such as { address }', options)
  checkOptions('joinMulticast', options, multicastNames)
  checkPairOptions(options, 'udp')
  checkWaitValues(options)
  const address = connectionAddress(options.address, 0)
  checkMulticastAddress('address', address)
  const source = options.source === undefined ? undefined : connectionAddress(options.source, 0, 'source')
  const choice = chooseCarrier(
    options.domain === undefined && options.pair !== undefined ? { domain: options.pair.domain } : options,
  )
  const identifier = choice.carrier.createIdentifier('udp')
  let made: ConnectionPair | undefined
  try {
    await nextEvent(identifier, address, options, (left) => identifier.resolveAddress(source, address, left))
    const device = identifier.deviceName ?? ''
    if (choice.deviceName !== undefined && device !== choice.deviceName) {
      const why = `the way to ${address.address} leads through ${device}, not ${choice.deviceName}; pass its address as \`source\``
      throw new ConnectionError('multicast', 0, why)
    }
    made = ConnectionPair.make(device, 'udp', options)
    lead(made.pair, identifier, options)
    const joined = await nextEvent(identifier, address, options, () => identifier.joinMulticast(address))
    if (joined === undefined) throw new ConnectionError('multicast', 0, `joining ${address.address} was interrupted`)
    made.pair.attachMulticast(joined.addressVector.gid, joined.addressVector.localIdentifier)
    return new MulticastGroup(identifier, made, address, joined)
  } catch (error) {
    identifier.destroy()
    made?.release()
    throw error
  }
}

/** A joined multicast group: its queue pair receives what is sent to the group. */
export class MulticastGroup {
  readonly pair: QueuePair
  readonly address: string
  readonly gid: Gid
  readonly peer: DatagramPeer
  readonly #identifier: ConnectionIdentifier
  readonly #made: ConnectionPair
  readonly #destination: DatagramDestination
  #closed = false

  /** @internal Made by {@link joinMulticast}. */
  constructor(identifier: ConnectionIdentifier, made: ConnectionPair, address: ConnectionAddress, peer: DatagramPeer) {
    this.#identifier = identifier
    this.#made = made
    this.pair = made.pair
    this.address = address.address
    this.gid = peer.addressVector.gid
    this.peer = peer
    this.#destination = new DatagramDestination(made.pair.domain, peer)
  }

  /** Return the field `to` of requests that send to the group. */
  destination(): Destination {
    return this.#destination.get()
  }

  /** Leave the group and close what was made by joining: rdma_leave_multicast(3). Idempotent. */
  leave(): void {
    if (this.#closed) return
    this.#closed = true
    if (!this.pair.closed) this.pair.detachMulticast(this.gid, this.peer.addressVector.localIdentifier)
    this.#destination.close()
    this.#identifier.destroy()
    this.#made.release()
  }

  [Symbol.dispose](): void {
    this.leave()
  }
}

/**
 * Begin, and wait for the next event; it resolves with where the group is, once that is known. Everything but success
 * rejects.
 */
function nextEvent(
  identifier: ConnectionIdentifier,
  group: ConnectionAddress,
  wait: WaitOptions,
  begin: (leftMs: number) => void,
): Promise<DatagramPeer | undefined> {
  return new Promise((done, reject) => {
    const deadline = new Deadline(wait, `an answer about the multicast group ${group.address}`, reject)
    identifier.onEvent = (event) => {
      if (event.type === 'address-change') return
      deadline.clear()
      const error = errorOf(event, group.address)
      if (error !== undefined) reject(error)
      else done(event.type === 'multicast-join' ? event.peer : undefined)
    }
    try {
      begin(deadline.remainingMs)
    } catch (error) {
      deadline.clear()
      reject(error)
    }
  })
}

/** RESET -> RTS; one that is in RTS already joins a further group. */
function lead(pair: QueuePair, identifier: ConnectionIdentifier, options: MulticastOptions): void {
  if (pair.state === QueuePairState.ReadyToSend) return
  const endpoint = { gid: pair.gid, queuePairNumber: pair.number, psn: pair.psn }
  pair.modify(identifier.queuePairAttributes(QueuePairState.Init, endpoint))
  options.prepare?.(pair)
  pair.modify({ state: QueuePairState.ReadyToReceive })
  pair.modify({ state: QueuePairState.ReadyToSend, sendPsn: pair.psn })
}
