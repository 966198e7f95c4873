import type { MessageLink } from '../../src/messaging/index.ts'
import { FrameKind, HEADER_BYTES, PROTOCOL_VERSION } from '../../src/rpc/frame.ts'

/** A frame as it goes over the wire, `body` with its extension. */
export function frame(
  kind: number,
  flags: number,
  extensionBytes: number,
  call: number,
  word: number,
  budget: number,
  body: Uint8Array,
): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + body.length)
  const view = new DataView(bytes.buffer)
  view.setUint8(0, kind)
  view.setUint8(1, flags)
  view.setUint16(2, extensionBytes, true)
  view.setUint32(4, call, true)
  view.setUint32(8, word, true)
  view.setUint32(12, budget, true)
  bytes.set(body, HEADER_BYTES)
  return bytes
}

/** Of a client. */
export const hello: Uint8Array = frame(FrameKind.Hello, 0, 0, 0, PROTOCOL_VERSION, 8, new Uint8Array(0))

/** Sends it, where there is room. */
export function sendRaw(link: MessageLink, bytes: Uint8Array): void {
  const at = link.reserve(bytes.length)
  if (at < 0) return
  link.outgoing.set(bytes, at)
  link.commit(bytes.length)
}
