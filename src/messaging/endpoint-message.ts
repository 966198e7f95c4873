/** What an endpoint's messages are: the kinds of its link. */
export const EndpointKind = {
  Plain: 0,
  /** The program passed an immediate. */
  WithImmediate: 1,
  /** A WRITE elsewhere is done: address and length. */
  Written: 2,
  /** A message too long for the ring lies at address and key. */
  Offer: 3,
  OfferWithImmediate: 4,
  /** The immediate is the number of the offer that was fetched. */
  Fetched: 5,
  /** The same for an offer that was not fetched: it is longer than the receiver takes. */
  Refused: 6,
} as const

/** `Written`: 0 address | 8 length. */
export const WRITTEN_BYTES = 16
/** `Offer`: 0 address | 8 length | 16 key | 20 number of the offer. */
export const OFFER_BYTES = 24

export interface Offer {
  readonly address: number
  readonly length: number
  readonly key: number
  readonly number: number
}

export function putOffer(bytes: Uint8Array, at: number, offer: Offer): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, OFFER_BYTES)
  view.setFloat64(0, offer.address, true)
  view.setFloat64(8, offer.length, true)
  view.setUint32(16, offer.key, true)
  view.setUint32(20, offer.number, true)
}

export function takeOffer(bytes: Uint8Array, at: number): Offer {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, OFFER_BYTES)
  return {
    address: view.getFloat64(0, true),
    length: view.getFloat64(8, true),
    key: view.getUint32(16, true),
    number: view.getUint32(20, true),
  }
}

export function putWritten(bytes: Uint8Array, at: number, address: number, length: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, WRITTEN_BYTES)
  view.setFloat64(0, address, true)
  view.setFloat64(8, length, true)
}

export function takeWritten(bytes: Uint8Array, at: number): { readonly address: number; readonly length: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, WRITTEN_BYTES)
  return { address: view.getFloat64(0, true), length: view.getFloat64(8, true) }
}
